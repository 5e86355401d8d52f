-- Why: a code for a recovery names the account that it is for, in its SMS and here, and begins or completes no other's. The previous
-- release takes such a code for any account.
-- Lock: ACCESS EXCLUSIVE on challenge_bindings, whose rows are read once for the check: codes of the last days.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE challenge_bindings ADD COLUMN account_hash bytea, DROP CONSTRAINT challenge_bindings_one,
    ADD CONSTRAINT challenge_bindings_one
        CHECK (num_nonnulls(link_hash, session_id, coalesce(case_id::text, encode(account_hash, 'hex'))) = 1);
COMMENT ON COLUMN challenge_bindings.account_hash IS 'Of the account that the SMS names, keyed by the challenge: nothing is found by it.';

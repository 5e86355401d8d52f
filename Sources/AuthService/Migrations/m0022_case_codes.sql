-- Why: a code that completes a recovery may be asked for that case, and then completes no other. The previous release leaves the
-- column empty.
-- Lock: ACCESS EXCLUSIVE on challenge_bindings, whose rows are read once for the check: codes of the last days.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE challenge_bindings ADD COLUMN case_id uuid, DROP CONSTRAINT challenge_bindings_check,
    ADD CONSTRAINT challenge_bindings_one CHECK (num_nonnulls(link_hash, session_id, case_id) = 1);
COMMENT ON TABLE challenge_bindings IS
    'What a challenge is for, beside its purpose: the link token or the session that asked for it, or the case it completes.';

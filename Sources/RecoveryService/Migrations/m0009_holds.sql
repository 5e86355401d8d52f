-- Why: nobody shortens a hold, and the service itself cannot: whoever has its role in the tables may change what stands here
-- column by column, and when a hold ends is not among them, nor whose a case is. What is dormant is held longer, and so is as
-- large a part of the numbers without an account. The previous release leaves the new column empty.
-- Lock: ACCESS EXCLUSIVE on cases, catalogue only, then SHARE while the index is built.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE cases ADD COLUMN is_dormant boolean;
COMMENT ON COLUMN cases.is_dormant IS 'The account slept when it was claimed; NULL: there is none.';
CREATE INDEX cases_dormancy ON cases (created_at) INCLUDE (is_dormant) WHERE is_dormant IS NOT NULL;
DO $$ BEGIN
    IF '{{runtime}}' NOT IN ('CURRENT_USER', current_user) THEN
        REVOKE UPDATE, DELETE ON cases FROM {{runtime}};
        GRANT UPDATE (account_id, account_reference, is_decoy, status, shadow, token_hash, device_hash, address_hash,
            closed_at, seen_closed_at, expires_at, told, facts_sealed, contested_at, evidence_at, evidence_sealed, verdict,
            reviewer, reviewer_until, first_approval, decided_at, attempt, attempt_at) ON cases TO {{runtime}};
    END IF;
END $$;

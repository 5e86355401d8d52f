-- Why: what a claimant gives for a request is read by reviewers. The previous release leaves the column empty, and what stands
-- there stays sealed in a case that it closes.
-- Lock: ACCESS EXCLUSIVE on cases, catalogue only.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE cases ADD COLUMN reason_sealed bytea;
COMMENT ON COLUMN cases.reason_sealed IS 'What the claimant gave for the request, encrypted; destroyed with the end of the case.';
DO $$ BEGIN
    IF '{{runtime}}' NOT IN ('CURRENT_USER', current_user) THEN
        GRANT UPDATE (reason_sealed) ON cases TO {{runtime}};
    END IF;
END $$;

-- Why: a claimant comes again with another mailbox, or with another spelling of one. A bar and the limits hold by the mailbox, and
-- by the device and the identity that a claim showed. An account that was claimed often by several names is decided later. The
-- previous release leaves the columns empty: its cases and bars count for the contact alone.
-- Lock: ACCESS EXCLUSIVE on cases, catalogue only: the default is a constant; then SHARE while indexes over rows without the new
-- values are built.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE cases ADD COLUMN mailbox_reference text, ADD COLUMN proof_references text[] NOT NULL DEFAULT '{}',
    ADD COLUMN decided_from timestamptz;
COMMENT ON COLUMN cases.mailbox_reference IS 'Auth''s reference of the claimant''s mailbox, however its address is spelled.';
COMMENT ON COLUMN cases.proof_references IS 'Auth''s references of the device and the identity that the claimant showed.';
COMMENT ON COLUMN cases.decided_from IS 'No reviewer decides earlier; NULL: from the end of the hold. Its claimant sees nothing of it.';
CREATE INDEX cases_mailbox ON cases (mailbox_reference) WHERE mailbox_reference IS NOT NULL;
CREATE INDEX cases_proofs ON cases USING gin (proof_references) WHERE proof_references <> '{}';
DO $$ BEGIN
    IF '{{runtime}}' NOT IN ('CURRENT_USER', current_user) THEN
        GRANT UPDATE (proof_references) ON cases TO {{runtime}};
    END IF;
END $$;

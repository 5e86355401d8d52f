-- Why: pictures of a recovery case belong to a side of the case and to no person, so that nothing of a claimant is in an owner's
-- export. The previous release reads and writes rows of persons alone.
-- Lock: ACCESS EXCLUSIVE on media while its rows are read once, then SHARE while the index over no rows is built.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE media ALTER COLUMN person_id DROP NOT NULL, ADD COLUMN case_id uuid,
    ADD COLUMN side text CHECK (side IN ('claimant', 'owner')), ADD COLUMN is_unread boolean NOT NULL DEFAULT false;
ALTER TABLE media ADD CONSTRAINT media_owner CHECK (CASE purpose
    WHEN 'recovery_evidence' THEN person_id IS NULL AND case_id IS NOT NULL AND side IS NOT NULL
    ELSE person_id IS NOT NULL AND case_id IS NULL AND side IS NULL AND NOT is_unread END);
CREATE INDEX media_by_case ON media (case_id) WHERE case_id IS NOT NULL;
COMMENT ON COLUMN media.case_id IS 'The recovery case that the picture is evidence in; NULL for a picture of a person.';
COMMENT ON COLUMN media.side IS 'Who sends the evidence.';
COMMENT ON COLUMN media.is_unread IS 'Nobody may see the evidence: it is destroyed as soon as it has arrived.';

-- Why: a claimant's evidence waits for its provider's word and then for reviewers, the oldest first; a case is one reviewer's at
-- a time; what they wrote stands sealed. The previous release leaves the columns empty.
-- Lock: ACCESS EXCLUSIVE on cases, catalogue only, then SHARE while indexes are built over what is in no row yet.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE cases ADD COLUMN evidence_at timestamptz, ADD COLUMN evidence_sealed bytea, ADD COLUMN verdict text,
    ADD COLUMN reviewer text, ADD COLUMN reviewer_until timestamptz, ADD COLUMN first_approval text,
    ADD COLUMN decided_at timestamptz;
COMMENT ON COLUMN cases.evidence_sealed IS 'The reference that the claimant gave, encrypted; destroyed with the end of the case.';
COMMENT ON COLUMN cases.verdict IS 'What the provider of evidence said: yes, no or undecided.';
COMMENT ON COLUMN cases.reviewer IS 'The pseudonym of who has the case for review, until reviewer_until.';
COMMENT ON COLUMN cases.first_approval IS 'The pseudonym of the first of two reviewers who said yes.';
CREATE INDEX cases_queue ON cases (evidence_at)
    WHERE status IN ('in_review', 'contested') AND NOT is_decoy AND evidence_at IS NOT NULL;
CREATE INDEX cases_decided ON cases (decided_at) WHERE decided_at IS NOT NULL AND NOT is_decoy;
CREATE INDEX cases_status ON cases (status, created_at) WHERE NOT is_decoy;
CREATE TABLE review_notes (
    case_id uuid NOT NULL REFERENCES cases (id), position integer NOT NULL, act text NOT NULL, reviewer text NOT NULL,
    note_sealed bytea NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp(), PRIMARY KEY (case_id, position)
);
COMMENT ON TABLE review_notes IS 'What reviewers wrote when they decided, encrypted.';

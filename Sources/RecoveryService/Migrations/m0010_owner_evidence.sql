-- Why: of a contested case both sides are asked for evidence. The previous release leaves the column empty.
-- Lock: ACCESS EXCLUSIVE on cases, catalogue only.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE cases ADD COLUMN owner_evidence_sealed bytea;
COMMENT ON COLUMN cases.owner_evidence_sealed IS 'The reference that the owner gave, encrypted; destroyed with the end of the case.';
GRANT UPDATE (owner_evidence_sealed) ON cases TO {{runtime}};

-- Why: an account's owner may give evidence more than once, and whoever else has a session of it may, too: none replaces
-- another. Two operators are told apart by the keys of their connections.
-- Lock: ACCESS EXCLUSIVE on cases, catalogue only: the default is a constant, and no row is read or written.
-- The previous release goes on: it shows the newest evidence alone, and tells operators apart by their names. It does not know
-- what is new: what was given before stays sealed in a case that it closes.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE cases ADD COLUMN owner_evidence_earlier bytea[] NOT NULL DEFAULT '{}', ADD COLUMN first_approval_key text;
COMMENT ON COLUMN cases.owner_evidence_earlier IS 'What came before owner_evidence_sealed, encrypted, the first one first.';
COMMENT ON COLUMN cases.first_approval_key IS 'The public key of the operator of first_approval; NULL for a reviewer.';
GRANT UPDATE (owner_evidence_earlier, first_approval_key) ON cases TO {{runtime}};

-- Why: an answer is saved by one statement where nobody else has changed the session since it was read.
-- Lock: ACCESS EXCLUSIVE on sessions, catalogue only: the default is a constant, and no row is read or written.
-- The previous release goes on: it raises no revision. While both run, an answer that the other release saves in the same
-- moment may be missing in the progress that this one answers with; none is lost, as no revision of an answer comes twice.
SET LOCAL lock_timeout = '2s';

ALTER TABLE sessions ADD COLUMN revision bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN sessions.revision IS 'Goes up whenever somebody has taken the session to change it.';
-- Room beside each row for its next form, so that no index is touched.
ALTER TABLE sessions SET (fillfactor = 80);

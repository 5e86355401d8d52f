-- Why: an answer may say what its person wants of another's, for two people to be compared by.
-- Lock: ACCESS EXCLUSIVE on answers and answer_history, catalogue only: no row is read or written.
-- The previous release goes on: it does not know the columns. An answer that it changes keeps what was wanted before, until
-- this release writes it.
SET LOCAL lock_timeout = '2s';

ALTER TABLE answers ADD COLUMN preference jsonb;
COMMENT ON COLUMN answers.preference IS '{"acceptable": [option], "importance": n}; NULL: nothing was said.';
ALTER TABLE answer_history ADD COLUMN preference jsonb;
COMMENT ON COLUMN answer_history.preference IS 'As in answers.';

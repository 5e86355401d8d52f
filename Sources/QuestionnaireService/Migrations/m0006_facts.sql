-- Why: conditions may look at facts that no question asks for; a session is pinned to them, so that they never change what
-- is asked.
-- Lock: ACCESS EXCLUSIVE on sessions, catalogue only: the default is a constant, and no row is read or written.
-- The previous release goes on: a session that it opens has no facts, and conditions do not know them.
SET LOCAL lock_timeout = '2s';

ALTER TABLE sessions ADD COLUMN facts jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN sessions.facts IS 'What was known when it was opened or moved, by name; null: it was looked for.';

-- Why: keys are destroyed at once, and bytes once their store answers. So a store of bytes that hangs delays no key.
-- Lock: ACCESS EXCLUSIVE on destructions, which has few rows. The previous release goes on: it destroys both for any row.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE destructions ADD COLUMN key_destroyed_at timestamptz;
COMMENT ON COLUMN destructions.key_destroyed_at IS 'When the key was destroyed, so that nobody can read the bytes; NULL while it may be there.';
CREATE INDEX destructions_with_key ON destructions (due_at) WHERE key_destroyed_at IS NULL;

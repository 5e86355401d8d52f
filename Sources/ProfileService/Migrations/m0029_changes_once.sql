-- Why: the bus repeats a change whose answer was lost. Done again later, it took back what another device had changed since.
-- The previous release goes on: it notes nothing, so a change that it has done may be done again, as before.
-- Lock: ACCESS EXCLUSIVE on profiles, catalogue only.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE profiles ADD COLUMN changed_by uuid[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN profiles.changed_by IS 'The messages of the last 16 changes by the person, the newest first.';

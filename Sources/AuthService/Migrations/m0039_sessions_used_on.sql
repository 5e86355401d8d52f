-- Why: each refresh wrote all index entries of its session again, since an index had the time of the last use. The day of the last
-- refresh changes once a day. The next migration makes its index.
-- Existing sessions get today's date. Auth refuses one that was idle before as always, and ends it up to 30 days later.
-- The previous release leaves the day as it is. The sweep finds such a session by an older day, and looks at its time.
-- Lock: ACCESS EXCLUSIVE on sessions, catalogue only.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE sessions ADD COLUMN used_on date NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')::date;
ALTER TABLE sessions SET (fillfactor = 85);
COMMENT ON COLUMN sessions.used_on IS 'The day (UTC) of the last refresh; for older sessions, of the migration that added it.';

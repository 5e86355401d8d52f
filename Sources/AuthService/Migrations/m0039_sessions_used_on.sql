-- Why: each refresh wrote all index entries of its session again, since an index had the time of the last use. The day of the last use
-- changes once a day. The first refreshes after this find no room in old pages.
-- What stands gets today. So a session that was idle before is refused as always, and is swept up to its idle time later.
-- The previous release leaves the day as it is. The sweep finds such a session by an older day, and looks at its time.
-- Lock: ACCESS EXCLUSIVE on sessions, catalogue only, then SHARE while the index is built. Until the previous release is gone, its sweep
-- reads the whole table once a minute.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE sessions ADD COLUMN used_on date NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')::date;
COMMENT ON COLUMN sessions.used_on IS 'The day (UTC) of last_used_at, for an index that a refresh seldom changes.';
ALTER TABLE sessions SET (fillfactor = 85);
CREATE INDEX sessions_used_on ON sessions (used_on) WHERE revoked_at IS NULL;
DROP INDEX sessions_idle;

-- Why: sessions end after 30 days without use and after 180 days in all; those are looked for each minute, and that must
-- not read the whole table. The previous release lets them live.
-- Lock: SHARE on sessions while the indexes are built.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
CREATE INDEX sessions_idle ON sessions (last_used_at) WHERE revoked_at IS NULL;
CREATE INDEX sessions_age ON sessions (created_at) WHERE revoked_at IS NULL;

-- Why: a recovery lock that is switched off holds for a day more, in which any device takes that back. The previous release takes
-- such a lock for one that is on.
-- Lock: ACCESS EXCLUSIVE on locks, catalogue only.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE locks ADD COLUMN ends_at timestamptz;
COMMENT ON COLUMN locks.ends_at IS 'When the lock is off; NULL: nobody switched it off.';

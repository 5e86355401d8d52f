-- Why: the sweep finds unused sessions by the day of their last use.
-- Lock: SHARE on sessions while the index is built, so sign-ins and refreshes fail meanwhile, after 200 ms each; then ACCESS EXCLUSIVE,
-- catalogue only. The sweep of the previous release reads the whole table, as it did with the index that goes.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
CREATE INDEX sessions_used_on ON sessions (used_on) WHERE revoked_at IS NULL;
DROP INDEX sessions_idle;

-- Why: a session belongs to an app, by whose plan the person is onboarded. The previous release leaves the column empty and
-- makes tokens without an app when it renews such a session: let it end before an app sends its key.
-- Lock: ACCESS EXCLUSIVE on sessions, catalogue only.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE sessions ADD COLUMN app text;
COMMENT ON COLUMN sessions.app IS 'The publishable key of the app that it was opened in; NULL: the default app.';

-- Why: a person is 18 by the calendar of where they are, which is up to fourteen hours ahead of UTC or twelve behind. The previous
-- release ignores the column and counts in UTC.
-- Lock: ACCESS EXCLUSIVE on profiles, catalogue only.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE profiles ADD COLUMN time_zone text;
COMMENT ON COLUMN profiles.time_zone IS 'A name of the IANA time zone database, such as Europe/Stockholm; NULL: UTC.';

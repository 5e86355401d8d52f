-- Why: a person may correct a mistyped date of birth once within 24 hours. The previous release does not write when a date was set,
-- so nobody corrects a date that it stored.
-- Lock: ACCESS EXCLUSIVE on profiles, catalogue only: a constant default is written to no row.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE profiles
    ADD COLUMN date_of_birth_set_at timestamptz,
    ADD COLUMN date_of_birth_corrected boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN profiles.date_of_birth_set_at IS 'When the first date was stored; NULL: before this was noted, or there is none.';

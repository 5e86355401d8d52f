-- Why: an account that auth suspended is blocked and not seen by others; staff corrects dates of birth, and writes why. The
-- previous release ignores the column, and shows a suspended person to others until the new one runs.
-- Lock: ACCESS EXCLUSIVE on profiles, catalogue only; a new table beside it.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE profiles ADD COLUMN suspended_at timestamptz;
COMMENT ON COLUMN profiles.suspended_at IS 'Since when auth has the account suspended; NULL: it is not.';
CREATE TABLE staff_notes (
    id uuid PRIMARY KEY,
    person_id uuid NOT NULL REFERENCES profiles (person_id) ON DELETE CASCADE,
    act text NOT NULL,
    staff text NOT NULL,
    note_sealed bytea NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX staff_notes_person ON staff_notes (person_id);
COMMENT ON TABLE staff_notes IS 'What staff wrote when they decided about a person, encrypted; staff by their pseudonym.';

-- Why: staff suspends accounts and restores them, and writes why. The previous release does not know the table, and already
-- keeps everybody out whose account is not active.
-- Lock: a new table only, and SHARE ROW EXCLUSIVE on accounts for the reference to it.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
CREATE TABLE staff_notes (
    id uuid PRIMARY KEY,
    person_id uuid NOT NULL REFERENCES accounts (id),
    act text NOT NULL,
    staff text NOT NULL,
    note_sealed bytea NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX staff_notes_person ON staff_notes (person_id);
COMMENT ON TABLE staff_notes IS 'What staff wrote when they decided about a person, encrypted; staff by their pseudonym.';

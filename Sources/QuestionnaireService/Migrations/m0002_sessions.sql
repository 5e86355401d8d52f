-- Why: answers about each of several subjects, answers taken back, and replies that are given again to the byte.
-- Lock: ACCESS EXCLUSIVE on answers and mutations, catalogue only: no row is read or written. m0003 validates the check.
-- The previous release goes on: it neither reads nor writes what is new. An answer about a subject has the key
-- question/subject, so that the keys and indices of the tables stay as they are.
SET LOCAL lock_timeout = '2s';

ALTER TABLE answers DROP CONSTRAINT answers_state_check;
ALTER TABLE answers ADD CONSTRAINT answers_state_known
    CHECK (state IN ('answered', 'skipped', 'declined', 'acknowledged', 'unanswered')) NOT VALID;
COMMENT ON COLUMN answers.question IS 'Key of the question, or question/subject in a section that repeats.';
COMMENT ON COLUMN answers.state IS 'unanswered: it was taken back, and its revisions go on.';

ALTER TABLE mutations ADD COLUMN reply jsonb;
COMMENT ON COLUMN mutations.reply IS 'What was answered; NULL where the write was one of several.';

CREATE TABLE subjects (
    person_id uuid NOT NULL,
    session_id uuid NOT NULL,
    subject uuid NOT NULL,
    kind text NOT NULL,
    position integer NOT NULL CHECK (position > 0),
    label text,
    added_at timestamptz NOT NULL,
    removed_at timestamptz,
    PRIMARY KEY (person_id, session_id, subject),
    FOREIGN KEY (person_id, session_id) REFERENCES sessions ON DELETE CASCADE
);
COMMENT ON TABLE subjects IS 'Whom a section that repeats is asked about, in the order in which they were added.';
COMMENT ON COLUMN subjects.label IS 'NULL where a question of the section asks for it, and where nothing was said.';
COMMENT ON COLUMN subjects.removed_at IS 'Their answers are kept, and count again when they are added again.';

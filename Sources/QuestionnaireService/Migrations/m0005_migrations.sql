-- Why: open sessions are moved to a newer version, and back until something is written.
-- Lock: ACCESS EXCLUSIVE on answers, catalogue only: the default is a constant, and no row is read or written.
-- The previous release goes on: it does not ask again for what is stale, and an answer that it writes stays so.
SET LOCAL lock_timeout = '2s';

ALTER TABLE answers ADD COLUMN is_stale boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN answers.is_stale IS 'It was given to another version''s question, and is asked for again.';

CREATE TABLE session_migrations (
    person_id uuid NOT NULL,
    session_id uuid NOT NULL,
    number integer NOT NULL CHECK (number > 0),
    from_version integer NOT NULL,
    from_hash bytea NOT NULL,
    to_version integer NOT NULL,
    before jsonb NOT NULL,
    migrated_at timestamptz NOT NULL,
    undone_at timestamptz,
    PRIMARY KEY (person_id, session_id, number),
    FOREIGN KEY (person_id, session_id) REFERENCES sessions ON DELETE CASCADE
);
COMMENT ON TABLE session_migrations IS 'Sessions that were moved to a newer version.';
COMMENT ON COLUMN session_migrations.before IS 'The answers that were changed, as they were: null where there was none.';

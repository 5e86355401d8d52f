-- Why: the service's first tables. Nothing reads or writes them before this release.
-- Lock: none that anybody waits for; every table is new.
-- A table about a person leads with the person's id, so that it can be spread over servers by it.

CREATE TABLE definitions (
    questionnaire text NOT NULL,
    version integer NOT NULL CHECK (version > 0),
    content_hash bytea NOT NULL CHECK (octet_length(content_hash) = 32),
    content text NOT NULL,
    published_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (questionnaire, version),
    UNIQUE (content_hash)
);
COMMENT ON TABLE definitions IS 'Published versions of questionnaires; a row never changes.';
COMMENT ON COLUMN definitions.content IS 'RFC 8785 form; content_hash is its SHA-256.';

CREATE TABLE sessions (
    person_id uuid NOT NULL,
    session_id uuid NOT NULL,
    questionnaire text NOT NULL,
    version integer NOT NULL,
    content_hash bytea NOT NULL,
    status text NOT NULL DEFAULT 'in_progress'
        CHECK (status IN ('in_progress', 'completed', 'amended', 'stopped')),
    opened_at timestamptz NOT NULL DEFAULT now(),
    completed_at timestamptz,
    PRIMARY KEY (person_id, session_id),
    FOREIGN KEY (questionnaire, version) REFERENCES definitions,
    CHECK ((status IN ('completed', 'amended')) = (completed_at IS NOT NULL))
);
COMMENT ON TABLE sessions IS 'One person going through one version of one questionnaire.';
CREATE UNIQUE INDEX sessions_one_open ON sessions (person_id, questionnaire) WHERE status = 'in_progress';

CREATE TABLE answers (
    person_id uuid NOT NULL,
    session_id uuid NOT NULL,
    question text NOT NULL,
    state text NOT NULL CHECK (state IN ('answered', 'skipped', 'declined', 'acknowledged')),
    value jsonb,
    revision bigint NOT NULL CHECK (revision > 0),
    changed_at timestamptz NOT NULL,
    PRIMARY KEY (person_id, session_id, question),
    FOREIGN KEY (person_id, session_id) REFERENCES sessions ON DELETE CASCADE,
    CHECK ((state = 'answered') = (value IS NOT NULL))
);
COMMENT ON TABLE answers IS 'Every answer as it stands; what it was before is in answer_history.';

CREATE TABLE answer_history (
    person_id uuid NOT NULL,
    session_id uuid NOT NULL,
    question text NOT NULL,
    revision bigint NOT NULL,
    state text NOT NULL,
    value jsonb,
    changed_at timestamptz NOT NULL,
    client_time timestamptz,
    PRIMARY KEY (person_id, session_id, question, revision),
    FOREIGN KEY (person_id, session_id) REFERENCES sessions ON DELETE CASCADE
);
COMMENT ON TABLE answer_history IS 'Every revision of every answer, once; rows are added and never changed.';

CREATE TABLE mutations (
    person_id uuid NOT NULL,
    session_id uuid NOT NULL,
    mutation_id uuid NOT NULL,
    digest bytea NOT NULL,
    question text NOT NULL,
    revision bigint NOT NULL,
    PRIMARY KEY (person_id, session_id, mutation_id),
    FOREIGN KEY (person_id, session_id) REFERENCES sessions ON DELETE CASCADE
);
COMMENT ON TABLE mutations IS 'Writes by the id that the client gave them: a repeat is answered and not done again.';

CREATE TABLE snapshots (
    person_id uuid NOT NULL,
    session_id uuid NOT NULL,
    number integer NOT NULL CHECK (number > 0),
    status text NOT NULL CHECK (status IN ('completed', 'amended')),
    version integer NOT NULL,
    content_hash bytea NOT NULL,
    answers jsonb NOT NULL,
    scores jsonb NOT NULL,
    taken_at timestamptz NOT NULL,
    PRIMARY KEY (person_id, session_id, number),
    FOREIGN KEY (person_id, session_id) REFERENCES sessions ON DELETE CASCADE
);
COMMENT ON TABLE snapshots IS 'What a session came to when it was completed, and after each later change.';

-- What was told once stays told: the role that the service runs as can add here, and neither change nor remove. The
-- deletion of a person goes through sessions, whose cascade is the owner's.
REVOKE UPDATE, DELETE ON answer_history, snapshots FROM {{runtime}};

-- Not by a right, as above: a foreign key locks the row that it refers to, and that takes the right to update.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a published definition never changes' USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER definitions_never_change BEFORE UPDATE OR DELETE ON definitions
    FOR EACH ROW EXECUTE FUNCTION refuse_change();

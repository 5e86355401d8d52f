-- Why: people accept texts, each in one version, and operators do tasks of their own. Both are steps of a plan.
-- Lock: new tables only. The previous release does not know them.
SET LOCAL search_path = {{schema}};
CREATE TABLE consents (
    person_id uuid NOT NULL REFERENCES profiles (person_id) ON DELETE CASCADE,
    document text NOT NULL,
    version text NOT NULL,
    accepted_at timestamptz NOT NULL,
    PRIMARY KEY (person_id, document, version)
);
COMMENT ON TABLE consents IS 'The version of a text that a person accepted, and when; a row never changes.';
CREATE TABLE operator_tasks (
    person_id uuid NOT NULL REFERENCES profiles (person_id) ON DELETE CASCADE,
    task text NOT NULL,
    done_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (person_id, task)
);
COMMENT ON TABLE operator_tasks IS 'The tasks that the operator''s own systems have done with a person.';

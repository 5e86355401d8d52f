-- Why: an onboarding is a plan that a person follows in an app, in one version; plans are documents, and several questionnaires may
-- be steps. The previous release goes on with its one onboarding; questionnaire_completed_at stays for its sake.
-- Lock: ACCESS EXCLUSIVE on profiles, catalogue only: a constant default is written to no row. New tables beside it.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE profiles ADD COLUMN questionnaires jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN profiles.questionnaires IS 'When each questionnaire was completed first, by its key.';
CREATE TABLE plans (
    plan text NOT NULL,
    version bigint NOT NULL,
    content_hash bytea NOT NULL,
    content text NOT NULL,
    published_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (plan, version)
);
CREATE TABLE person_plans (
    person_id uuid NOT NULL REFERENCES profiles (person_id) ON DELETE CASCADE,
    app text NOT NULL,
    plan text NOT NULL,
    version bigint NOT NULL,
    began_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (person_id, app),
    FOREIGN KEY (plan, version) REFERENCES plans
);
COMMENT ON TABLE person_plans IS 'The version of a plan that a person follows in an app; the default app has the empty name.';

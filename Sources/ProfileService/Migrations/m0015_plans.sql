-- Why: an onboarding is a plan that a person follows in an app, in one version; plans are documents, and several questionnaires may
-- be steps. The previous release goes on with its one onboarding; questionnaire_completed_at stays for its sake.
-- Lock: ACCESS EXCLUSIVE on profiles, catalogue only: a constant default is written to no row. New tables beside it.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE profiles ADD COLUMN questionnaires jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN profiles.questionnaires IS 'When each questionnaire was completed first, by its key.';
CREATE TABLE plans (
    plan text NOT NULL,
    version integer NOT NULL CHECK (version > 0),
    content_hash bytea NOT NULL CHECK (octet_length(content_hash) = 32),
    content text NOT NULL,
    published_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (plan, version)
);
COMMENT ON TABLE plans IS 'Published versions of plans; a row never changes.';
COMMENT ON COLUMN plans.content IS 'RFC 8785 form; content_hash is its SHA-256.';
CREATE TABLE plan_drafts (
    plan text NOT NULL,
    number integer NOT NULL CHECK (number > 0),
    revision bigint NOT NULL DEFAULT 1 CHECK (revision > 0),
    content text NOT NULL,
    copy_of integer,
    published_as integer,
    updated_at timestamptz NOT NULL DEFAULT now(),
    deleted_at timestamptz,
    PRIMARY KEY (plan, number),
    FOREIGN KEY (plan, published_as) REFERENCES plans
);
COMMENT ON TABLE plan_drafts IS 'Plans that are still written; one that was published stays as it was then.';
COMMENT ON COLUMN plan_drafts.revision IS 'Goes up with every change: an editor who saw another one is refused.';
COMMENT ON COLUMN plan_drafts.copy_of IS 'The version that it began as a copy of.';
COMMENT ON COLUMN plan_drafts.deleted_at IS 'From then on the content is empty, and nobody is shown the draft.';
CREATE TABLE plan_retirements (
    plan text NOT NULL,
    version integer NOT NULL,
    retired_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (plan, version),
    FOREIGN KEY (plan, version) REFERENCES plans
);
COMMENT ON TABLE plan_retirements IS 'Versions that nobody begins with any more; who follows one goes on.';
CREATE TABLE person_plans (
    person_id uuid NOT NULL REFERENCES profiles (person_id) ON DELETE CASCADE,
    app text NOT NULL,
    plan text NOT NULL,
    version integer NOT NULL,
    began_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (person_id, app),
    FOREIGN KEY (plan, version) REFERENCES plans
);
CREATE INDEX person_plans_by_version ON person_plans (plan, version);
COMMENT ON TABLE person_plans IS 'The version of a plan that a person follows in an app; the default app has the empty name.';

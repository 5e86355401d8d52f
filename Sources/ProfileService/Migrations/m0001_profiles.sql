-- Why: profiles, a row per field and person, so that two devices writing different fields never lose one.
-- Lock: new tables only. There is no previous release.
SET LOCAL search_path = {{schema}};
CREATE TABLE profiles (
    person_id uuid PRIMARY KEY,
    date_of_birth_sealed bytea,
    questionnaire_completed_at timestamptz,
    completed_at timestamptz,
    revision bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN profiles.date_of_birth_sealed IS 'Encrypted; no date from which it follows stands anywhere.';
CREATE TABLE profile_fields (
    person_id uuid NOT NULL REFERENCES profiles (person_id),
    key text NOT NULL,
    state text NOT NULL CHECK (state IN ('answered', 'skipped', 'declined')),
    value jsonb,
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (person_id, key),
    CHECK ((state = 'answered') = (value IS NOT NULL))
);

-- Why: operators see how far people come and where they leave. Steps are noted once a person, openings of the app each.
-- A visitor who has not signed in has the name that the client gave; it goes when the person is known.
-- Lock: a new table only. The previous release does not know it.
SET LOCAL search_path = {{schema}};
CREATE TABLE onboarding_events (
    event_id uuid PRIMARY KEY,
    person_id uuid,
    anonymous_id text,
    name text NOT NULL,
    at timestamptz NOT NULL,
    received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    properties jsonb NOT NULL DEFAULT '{}',
    CHECK (num_nonnulls(person_id, anonymous_id) = 1)
);
CREATE UNIQUE INDEX onboarding_events_person ON onboarding_events (person_id, name)
    WHERE person_id IS NOT NULL AND name <> 'app_opened';
CREATE UNIQUE INDEX onboarding_events_visitor ON onboarding_events (anonymous_id, name)
    WHERE anonymous_id IS NOT NULL AND name <> 'app_opened';
CREATE INDEX onboarding_events_openings ON onboarding_events (person_id) WHERE name = 'app_opened';
CREATE INDEX onboarding_events_visitors_openings ON onboarding_events (anonymous_id) WHERE name = 'app_opened';
CREATE INDEX onboarding_events_unknown ON onboarding_events (received_at) WHERE anonymous_id IS NOT NULL;
-- What is known of those who are here already.
INSERT INTO onboarding_events (event_id, person_id, name, at)
SELECT gen_random_uuid(), person_id, 'otp_verified', created_at FROM profiles;
INSERT INTO onboarding_events (event_id, person_id, name, at)
SELECT gen_random_uuid(), person_id, 'questionnaire_completed', questionnaire_completed_at
FROM profiles WHERE questionnaire_completed_at IS NOT NULL;

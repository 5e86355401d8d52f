-- Why: the funnel read all events, and with ten million of them took five times as long as a statement may. It reads one row
-- for each person or visitor now, which triggers keep, so that the previous release's events are in it too.
-- Lock: SHARE ROW EXCLUSIVE on onboarding_events, catalogue only; m0013 adds the events from before.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
CREATE TABLE journeys (
    person_id uuid,
    anonymous_id text,
    began timestamptz NOT NULL,
    app_opened timestamptz,
    onboarding_started timestamptz,
    phone_entered timestamptz,
    otp_verified timestamptz,
    age_verified timestamptz,
    profile_created timestamptz,
    location_allowed timestamptz,
    questionnaire_started timestamptz,
    questionnaire_completed timestamptz,
    profiling_completed timestamptz,
    vps_ready timestamptz,
    vps_deferred timestamptz,
    verification_consent_given timestamptz,
    verification_completed timestamptz,
    onboarding_completed timestamptz,
    first_match_viewed timestamptz,
    UNIQUE NULLS NOT DISTINCT (person_id, anonymous_id),
    CHECK (num_nonnulls(person_id, anonymous_id) = 1)
);
CREATE INDEX journeys_began ON journeys (began);
COMMENT ON TABLE journeys IS 'When each person or visitor did each thing first, as onboarding_events say.';
COMMENT ON COLUMN journeys.began IS 'The first event. It stays where the first of several events of a visitor is forgotten.';

-- Both take what is there together with what comes: two that write of one person may do so in any order.
CREATE FUNCTION add_to_journeys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO {{schema}}.journeys AS j (person_id, anonymous_id, began,
            app_opened, onboarding_started, phone_entered, otp_verified, age_verified, profile_created,
            location_allowed, questionnaire_started, questionnaire_completed, profiling_completed, vps_ready,
            vps_deferred, verification_consent_given, verification_completed, onboarding_completed, first_match_viewed)
    SELECT person_id, anonymous_id, min(at),
            min(at) FILTER (WHERE name = 'app_opened'), min(at) FILTER (WHERE name = 'onboarding_started'),
            min(at) FILTER (WHERE name = 'phone_entered'), min(at) FILTER (WHERE name = 'otp_verified'),
            min(at) FILTER (WHERE name = 'age_verified'), min(at) FILTER (WHERE name = 'profile_created'),
            min(at) FILTER (WHERE name = 'location_allowed'), min(at) FILTER (WHERE name = 'questionnaire_started'),
            min(at) FILTER (WHERE name = 'questionnaire_completed'),
            min(at) FILTER (WHERE name = 'profiling_completed'), min(at) FILTER (WHERE name = 'vps_ready'),
            min(at) FILTER (WHERE name = 'vps_deferred'), min(at) FILTER (WHERE name = 'verification_consent_given'),
            min(at) FILTER (WHERE name = 'verification_completed'),
            min(at) FILTER (WHERE name = 'onboarding_completed'), min(at) FILTER (WHERE name = 'first_match_viewed')
    FROM added GROUP BY person_id, anonymous_id ORDER BY person_id, anonymous_id
    ON CONFLICT (person_id, anonymous_id) DO UPDATE SET began = least(j.began, excluded.began),
                app_opened = least(j.app_opened, excluded.app_opened),
                onboarding_started = least(j.onboarding_started, excluded.onboarding_started),
                phone_entered = least(j.phone_entered, excluded.phone_entered),
                otp_verified = least(j.otp_verified, excluded.otp_verified),
                age_verified = least(j.age_verified, excluded.age_verified),
                profile_created = least(j.profile_created, excluded.profile_created),
                location_allowed = least(j.location_allowed, excluded.location_allowed),
                questionnaire_started = least(j.questionnaire_started, excluded.questionnaire_started),
                questionnaire_completed = least(j.questionnaire_completed, excluded.questionnaire_completed),
                profiling_completed = least(j.profiling_completed, excluded.profiling_completed),
                vps_ready = least(j.vps_ready, excluded.vps_ready),
                vps_deferred = least(j.vps_deferred, excluded.vps_deferred),
                verification_consent_given = least(j.verification_consent_given, excluded.verification_consent_given),
                verification_completed = least(j.verification_completed, excluded.verification_completed),
                onboarding_completed = least(j.onboarding_completed, excluded.onboarding_completed),
                first_match_viewed = least(j.first_match_viewed, excluded.first_match_viewed);
    RETURN NULL;
END $$;
-- Whoever has no event any more has no journey.
CREATE FUNCTION end_journeys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM {{schema}}.journeys j USING (SELECT DISTINCT person_id FROM removed) AS r
    WHERE j.person_id = r.person_id AND NOT EXISTS (
        SELECT FROM {{schema}}.onboarding_events e WHERE e.person_id = r.person_id AND e.name <> 'app_opened'
            OR e.person_id = r.person_id AND e.name = 'app_opened');
    DELETE FROM {{schema}}.journeys j USING (SELECT DISTINCT anonymous_id FROM removed) AS r
    WHERE j.person_id IS NULL AND j.anonymous_id = r.anonymous_id AND NOT EXISTS (
        SELECT FROM {{schema}}.onboarding_events e WHERE e.anonymous_id = r.anonymous_id AND e.name <> 'app_opened'
            OR e.anonymous_id = r.anonymous_id AND e.name = 'app_opened');
    RETURN NULL;
END $$;
CREATE TRIGGER journeys_add AFTER INSERT ON onboarding_events REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION add_to_journeys();
CREATE TRIGGER journeys_move AFTER UPDATE ON onboarding_events REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION add_to_journeys();
CREATE TRIGGER journeys_leave AFTER UPDATE ON onboarding_events REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION end_journeys();
CREATE TRIGGER journeys_end AFTER DELETE ON onboarding_events REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION end_journeys();

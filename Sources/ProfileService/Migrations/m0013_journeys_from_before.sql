-- Why: the funnel counts the events from before the journeys, too.
-- Lock: none on events. Who tells of somebody whom it has just added is told to come again; ten million events take a minute.
SET LOCAL work_mem = '128MB';
SET LOCAL search_path = {{schema}};
INSERT INTO journeys AS j (person_id, anonymous_id, began,
    app_opened, onboarding_started, phone_entered, otp_verified, age_verified, profile_created, location_allowed,
    questionnaire_started, questionnaire_completed, profiling_completed, vps_ready, vps_deferred,
    verification_consent_given, verification_completed, onboarding_completed, first_match_viewed)
SELECT person_id, anonymous_id, min(at),
    min(at) FILTER (WHERE name = 'app_opened'), min(at) FILTER (WHERE name = 'onboarding_started'),
    min(at) FILTER (WHERE name = 'phone_entered'), min(at) FILTER (WHERE name = 'otp_verified'),
    min(at) FILTER (WHERE name = 'age_verified'), min(at) FILTER (WHERE name = 'profile_created'),
    min(at) FILTER (WHERE name = 'location_allowed'), min(at) FILTER (WHERE name = 'questionnaire_started'),
    min(at) FILTER (WHERE name = 'questionnaire_completed'), min(at) FILTER (WHERE name = 'profiling_completed'),
    min(at) FILTER (WHERE name = 'vps_ready'), min(at) FILTER (WHERE name = 'vps_deferred'),
    min(at) FILTER (WHERE name = 'verification_consent_given'),
    min(at) FILTER (WHERE name = 'verification_completed'), min(at) FILTER (WHERE name = 'onboarding_completed'),
    min(at) FILTER (WHERE name = 'first_match_viewed')
FROM onboarding_events GROUP BY person_id, anonymous_id ORDER BY person_id, anonymous_id
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
    vps_ready = least(j.vps_ready, excluded.vps_ready), vps_deferred = least(j.vps_deferred, excluded.vps_deferred),
    verification_consent_given = least(j.verification_consent_given, excluded.verification_consent_given),
    verification_completed = least(j.verification_completed, excluded.verification_completed),
    onboarding_completed = least(j.onboarding_completed, excluded.onboarding_completed),
    first_match_viewed = least(j.first_match_viewed, excluded.first_match_viewed);
ANALYZE journeys;

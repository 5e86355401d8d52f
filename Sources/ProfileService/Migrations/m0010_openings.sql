-- Why: an app that is opened again and again must not fill the table: of a day (UTC) the first opening of a person or a visitor
-- is kept. The previous release takes openings as before, one a day; where it ties a visitor to a person who opened the app on
-- the same day, it tries again until this release does it.
-- Lock: SHARE on onboarding_events while the indexes are built.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
DELETE FROM onboarding_events AS e WHERE name = 'app_opened' AND EXISTS (
    SELECT FROM onboarding_events AS k
    WHERE k.name = 'app_opened' AND (k.person_id, k.anonymous_id) IS NOT DISTINCT FROM (e.person_id, e.anonymous_id)
        AND (k.at AT TIME ZONE 'UTC')::date = (e.at AT TIME ZONE 'UTC')::date
        AND (k.at, k.event_id) < (e.at, e.event_id));
DROP INDEX onboarding_events_openings, onboarding_events_visitors_openings;
CREATE UNIQUE INDEX onboarding_events_openings ON onboarding_events (person_id, ((at AT TIME ZONE 'UTC')::date))
    WHERE person_id IS NOT NULL AND name = 'app_opened';
CREATE UNIQUE INDEX onboarding_events_visitors_openings
    ON onboarding_events (anonymous_id, ((at AT TIME ZONE 'UTC')::date))
    WHERE anonymous_id IS NOT NULL AND name = 'app_opened';

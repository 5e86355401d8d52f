-- Why: who was backfilled was complete in the apps that they had begun, and stays so where a plan has texts to accept.
-- Lock: the rows in person_plans of people who were backfilled.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
UPDATE person_plans j SET completed_at = greatest(j.began_at, p.onboarding_backfilled_at)
FROM profiles p
WHERE j.person_id = p.person_id AND p.onboarding_backfilled_at IS NOT NULL AND j.completed_at IS NULL;

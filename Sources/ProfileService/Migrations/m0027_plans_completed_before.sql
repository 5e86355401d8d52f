-- Why: people who were complete before m0020 count as not complete in the funnel of their plan. The event onboarding_completed says
-- when they were. It names no plan. So it counts for people with one plan, in the version with which they began.
-- Lock: their rows in person_plans.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
UPDATE person_plans p SET completed_at = greatest(p.began_at, j.onboarding_completed)
FROM journeys j, plans v
WHERE p.completed_at IS NULL AND p.person_id = j.person_id AND j.onboarding_completed IS NOT NULL
    AND v.plan = p.plan AND v.version = p.version AND v.published_at <= p.began_at
    AND NOT EXISTS (SELECT FROM person_plans o WHERE o.person_id = p.person_id AND o.app <> p.app);

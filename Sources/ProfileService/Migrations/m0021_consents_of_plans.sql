-- Why: a consent is to a text of one plan, since two plans may have texts with one name. One without a plan was given before, for each
-- plan; the previous release still gives such ones. Who was backfilled was complete in the apps that they had begun, and stays so.
-- Lock: ACCESS EXCLUSIVE on consents while its key is built; the rows in person_plans of people who were backfilled.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE consents ADD COLUMN plan text NOT NULL DEFAULT '';
ALTER TABLE consents DROP CONSTRAINT consents_pkey, ADD PRIMARY KEY (person_id, plan, document, version);
COMMENT ON COLUMN consents.plan IS 'The plan that asked for the text; empty: from before this was noted.';
UPDATE person_plans j SET completed_at = greatest(j.began_at, p.onboarding_backfilled_at)
FROM profiles p
WHERE j.person_id = p.person_id AND p.onboarding_backfilled_at IS NOT NULL AND j.completed_at IS NULL;

-- Why: the funnel of a plan shows how far people come in each of its steps, how long they take, and by which entry they came.
-- Lock: ACCESS EXCLUSIVE on person_plans: constant defaults are written to no row, and the index is built.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE person_plans
    ADD COLUMN entry text,
    ADD COLUMN steps jsonb NOT NULL DEFAULT '{}',
    ADD COLUMN completed_at timestamptz;
COMMENT ON COLUMN person_plans.entry IS 'The invitation or campaign by which the person came; NULL: none, or unknown.';
COMMENT ON COLUMN person_plans.steps IS 'Seconds from began_at until each step was done first, by the key of the step.';
COMMENT ON COLUMN person_plans.completed_at IS 'When the onboarding was complete first.';
CREATE INDEX person_plans_by_beginning ON person_plans (plan, version, began_at);
DROP INDEX person_plans_by_version;

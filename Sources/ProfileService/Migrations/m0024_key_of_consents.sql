-- Why: a person accepts texts with one name for each plan.
-- Lock: ACCESS EXCLUSIVE on consents, catalogue only: the index is there.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE consents DROP CONSTRAINT consents_pkey, ADD CONSTRAINT consents_pkey PRIMARY KEY USING INDEX consents_by_plan;

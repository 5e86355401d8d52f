-- Why: a consent is to a text of one plan, since two plans may have texts with one name. One without a plan was given before, for each
-- plan; the previous release still gives such ones.
-- Lock: ACCESS EXCLUSIVE on consents, catalogue only: a constant default is written to no row.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE consents ADD COLUMN plan text NOT NULL DEFAULT '';
COMMENT ON COLUMN consents.plan IS 'The plan that asked for the text; empty: from before this was noted.';

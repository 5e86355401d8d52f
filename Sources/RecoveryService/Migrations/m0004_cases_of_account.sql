-- Why: a deletion and an export find the cases against an account without reading all. The previous release ignores it.
-- Lock: SHARE on cases while the index is built.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
CREATE INDEX cases_account ON cases (account_id) WHERE account_id IS NOT NULL;

-- Why: each claim counts the claims of a month under the same name of the account. Without this index that reads all cases. The
-- previous release goes on.
-- Lock: SHARE on cases while the index is built.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
CREATE INDEX cases_reference ON cases (account_reference, created_at);

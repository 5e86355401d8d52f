-- Why: who was robbed of their number's place in an account takes it back within 72 hours. The previous release writes no
-- token: what it changes is recovered, and not undone.
-- Lock: ACCESS EXCLUSIVE on phone_aliases, catalogue only, then SHARE while an index over rows without a token is built.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE phone_aliases ADD COLUMN token_hash bytea, ADD COLUMN changed_by uuid;
COMMENT ON COLUMN phone_aliases.token_hash IS 'Of what the SMS to the number carried, keyed; it undoes the change for 72 hours.';
COMMENT ON COLUMN phone_aliases.changed_by IS 'The session that took the number off.';
CREATE UNIQUE INDEX phone_aliases_token ON phone_aliases (token_hash) WHERE token_hash IS NOT NULL;

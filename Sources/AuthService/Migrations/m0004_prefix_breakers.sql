-- Why: sends to many numbers of one prefix of which hardly any is verified are somebody's business with the price of an
-- SMS, not sign-ins; such a prefix is closed for a while. The previous release leaves the column empty, and what it sends
-- counts for no prefix.
-- Lock: ACCESS EXCLUSIVE on challenges, catalogue only, then SHARE while the index is built over rows without a prefix.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE challenges ADD COLUMN prefix_hash bytea;
COMMENT ON COLUMN challenges.prefix_hash IS 'Of the country code and four digits, keyed; NULL: a known device asked.';
CREATE INDEX challenges_prefix ON challenges (prefix_hash, created_at) WHERE prefix_hash IS NOT NULL;
CREATE TABLE prefix_breakers (prefix_hash bytea PRIMARY KEY, until timestamptz NOT NULL);
CREATE INDEX prefix_breakers_until ON prefix_breakers (until);
COMMENT ON TABLE prefix_breakers IS 'Prefixes that strangers get no code for until then.';

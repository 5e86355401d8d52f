-- Why: who has an IPv6 network of /48 has 65,536 of /64, so that limits for each client address count both. The previous release
-- leaves the column empty, and what it sends counts for no /48.
-- Lock: ACCESS EXCLUSIVE on challenges, catalogue only, then SHARE while the index is built over rows without a site.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE challenges ADD COLUMN site_hash bytea;
COMMENT ON COLUMN challenges.site_hash IS 'Of the /48 of the client address, keyed; NULL: the address is no IPv6 address.';
CREATE INDEX challenges_site ON challenges (site_hash, created_at) WHERE site_hash IS NOT NULL;

-- Why: who has an IPv6 network of /48 has 65,536 of /64, so that the limit for each client address counts both. The previous
-- release leaves the column empty, and its cases count for no /48.
-- Lock: ACCESS EXCLUSIVE on cases, catalogue only, then SHARE while the index is built over rows without a site.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE cases ADD COLUMN site_hash bytea;
COMMENT ON COLUMN cases.site_hash IS 'Of the /48 of the client address, keyed; NULL: the address is no IPv6 address.';
CREATE INDEX cases_site ON cases (site_hash, created_at) WHERE site_hash IS NOT NULL;
DO $$ BEGIN
    IF '{{runtime}}' NOT IN ('CURRENT_USER', current_user) THEN
        GRANT UPDATE (site_hash) ON cases TO {{runtime}};
    END IF;
END $$;

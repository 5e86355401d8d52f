-- Why: what recovery was answered for a case names the claimant's number in part, and stands sealed; freezes that are long over
-- are looked for each minute, and that must not read the whole table. A deletion finds what the
-- person claimed once. The previous release cannot read what this one was answered: a recovery that this one began is not
-- completed there, and may be tried again. What stands in clear goes 30 days after its freeze.
-- Lock: ACCESS EXCLUSIVE on freezes, catalogue only, then SHARE while indexes are built: a row for each recovery case.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE freezes ALTER COLUMN begun DROP NOT NULL, ADD COLUMN begun_sealed bytea;
COMMENT ON COLUMN freezes.begun IS 'The answer to recovery, as releases before this one wrote it.';
COMMENT ON COLUMN freezes.begun_sealed IS 'The answer to recovery, encrypted.';
CREATE INDEX freezes_until ON freezes (until);
CREATE INDEX freezes_all_of_claimant ON freezes (claimant_hash);

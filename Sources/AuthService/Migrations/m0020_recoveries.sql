-- Why: a number that claims an account opens none of its own meanwhile; a recovery is applied once; identities that were linked
-- before it open nothing until they are confirmed. The previous release leaves the columns empty.
-- Lock: ACCESS EXCLUSIVE on freezes and identities, catalogue only, then SHARE on freezes while an index is built: a row for each
-- recovery case.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE freezes ADD COLUMN claimant_hash bytea, ADD COLUMN claimant_free_at timestamptz, ADD COLUMN applied_at timestamptz;
COMMENT ON COLUMN freezes.claimant_hash IS 'The look-up of the number that claims: it opens no account before claimant_free_at.';
COMMENT ON COLUMN freezes.applied_at IS 'When the account was moved to the claimant.';
CREATE INDEX freezes_claimant ON freezes (claimant_hash) WHERE claimant_free_at IS NULL;
ALTER TABLE identities ADD COLUMN to_confirm_since timestamptz;
COMMENT ON COLUMN identities.to_confirm_since IS 'Linked before a recovery: it opens nothing until it is linked again.';

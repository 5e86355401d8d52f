-- Why: codes to one mailbox are counted together, however its address is spelled. The previous release leaves the column empty, and
-- what it sends counts for one spelling only.
-- Lock: ACCESS EXCLUSIVE on challenges, catalogue only, then SHARE while the index is built over rows without a mailbox.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE challenges ADD COLUMN mailbox_hash bytea;
COMMENT ON COLUMN challenges.mailbox_hash IS
    'Of the address without case, dots and suffix, keyed as a limit that outlives the account; NULL: the contact is a phone.';
CREATE INDEX challenges_mailbox ON challenges (mailbox_hash, created_at) WHERE mailbox_hash IS NOT NULL;

-- Why: the key that phones are looked up by can be replaced. While two are alive, a row has the number's hash under both. The
-- previous release knows the first alone, which is the one that it made while no ring names a look-up key.
-- Lock: ACCESS EXCLUSIVE on phones and phone_aliases, catalogue only, then SHARE while the indexes are built. Only phones_keys has
-- an entry for each account: some seconds for millions of them.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE phones ADD COLUMN other_hash bytea, ADD COLUMN other_key_id text,
    ADD CONSTRAINT phones_other_has_key CHECK ((other_hash IS NULL) = (other_key_id IS NULL)) NOT VALID;
ALTER TABLE phone_aliases ADD COLUMN other_hash bytea, ADD COLUMN other_key_id text,
    ADD CONSTRAINT phone_aliases_other_has_key CHECK ((other_hash IS NULL) = (other_key_id IS NULL)) NOT VALID;
COMMENT ON COLUMN phones.other_hash IS 'The number under the other look-up key, while two are alive.';
COMMENT ON COLUMN phone_aliases.other_hash IS 'The number under the other look-up key, while two are alive.';
CREATE UNIQUE INDEX phones_other ON phones (other_hash) WHERE other_hash IS NOT NULL;
CREATE INDEX phone_aliases_other ON phone_aliases (other_hash) WHERE other_hash IS NOT NULL;
CREATE INDEX phones_keys ON phones (key_id, coalesce(other_key_id, ''));

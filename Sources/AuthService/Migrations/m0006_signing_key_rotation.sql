-- Why: a new signing key is published for a while before it signs, so that every gateway knows it by then. The previous
-- release signs with a new key as soon as it reads it: rotate when it is gone.
-- Lock: ACCESS EXCLUSIVE on a table of a few rows.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE signing_keys ADD COLUMN signs_from timestamptz NOT NULL DEFAULT now();
UPDATE signing_keys SET signs_from = created_at;
COMMENT ON COLUMN signing_keys.signs_from IS 'From then on it signs, until the next one does; published before and after.';

-- Why: a client that lost the answer to a refresh may repeat it, until a token of the new pair was used: then the answer was
-- not lost. The previous release fills none of the columns, and its pairs count as unused.
-- Lock: ACCESS EXCLUSIVE on both tables, catalogue only.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE sessions ADD COLUMN access_id uuid, ADD COLUMN used_generation bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN sessions.access_id IS 'The jti of the access token that was made last.';
COMMENT ON COLUMN sessions.used_generation IS 'The last generation of which a gateway saw the access token.';
ALTER TABLE refresh_tokens ADD COLUMN is_keyed boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN refresh_tokens.is_keyed IS 'Replaced by a request with a key of the client: repeated with that key only.';

-- Why: completing wants the claimant's device, and is one attempt at a time. The previous release leaves the columns empty.
-- Lock: ACCESS EXCLUSIVE on cases, catalogue only.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE cases ADD COLUMN device_hash bytea, ADD COLUMN attempt uuid,
    ADD COLUMN attempt_at timestamptz;
COMMENT ON COLUMN cases.device_hash IS 'Of the secret that the claiming device got with the request, keyed.';
COMMENT ON COLUMN cases.attempt IS 'The attempt to complete that is under way: follows from a challenge and its code, keyed.';
COMMENT ON COLUMN cases.attempt_at IS 'When it was begun, or repeated.';

-- Why: who takes a number over removes the owner's devices first, so that none is left to undo it with. It is on record which
-- device removed another, and the secret of what a younger one removed is kept: the undo decides whether the younger one is
-- doubted. The previous release leaves the columns empty: what it removes proves nothing.
-- Lock: ACCESS EXCLUSIVE on devices, catalogue only.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE devices ADD COLUMN removed_by_device_id uuid, ADD COLUMN removed_secret_hash bytea;
COMMENT ON COLUMN devices.removed_by_device_id IS 'The device that removed it; itself where its own session did.';
COMMENT ON COLUMN devices.removed_secret_hash IS
    'Its secret''s hash where a younger device removed it: it serves to undo a change of the number, and for nothing else.';

-- Why: a notice to a device is in the language that the device last asked for. The previous release leaves the column as it is,
-- and its texts are English.
-- Lock: ACCESS EXCLUSIVE on devices, catalogue only.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE devices ADD COLUMN language text;
COMMENT ON COLUMN devices.language IS 'The language tag that it last asked for at a sign-in or a change of the device; NULL: none.';

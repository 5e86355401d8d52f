-- Why: a push token that its provider calls dead is asked for no more; a removed device and a token that was replaced still
-- hear of a recovery for a while; a person sees whether a code was sent. The previous release leaves the columns empty,
-- tries dead tokens again, and shows removed devices, whose secrets are gone with this one.
-- Lock: ACCESS EXCLUSIVE on devices and challenges, catalogue only, then SHARE on devices while an index is built over what
-- is in no row yet.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE devices ADD COLUMN push_expired_at timestamptz, ADD COLUMN removed_at timestamptz;
COMMENT ON COLUMN devices.push_expired_at IS 'When the push provider called the token dead; NULL: it may be alive.';
COMMENT ON COLUMN devices.removed_at IS 'When the person removed the device; it hears of recoveries for 30 days more.';
CREATE INDEX devices_removed_at ON devices (removed_at) WHERE removed_at IS NOT NULL;
CREATE TABLE replaced_push_tokens (
    id uuid PRIMARY KEY,
    person_id uuid NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    device_id uuid NOT NULL,
    sealed bytea NOT NULL,
    replaced_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX replaced_push_tokens_person ON replaced_push_tokens (person_id);
CREATE INDEX replaced_push_tokens_replaced_at ON replaced_push_tokens (replaced_at);
COMMENT ON TABLE replaced_push_tokens IS
    'Push tokens that their devices put another one in the place of; they hear of recoveries for 30 days. Sealed for the device.';
ALTER TABLE challenges ADD COLUMN sent_at timestamptz;
COMMENT ON COLUMN challenges.sent_at IS 'When a provider took the SMS.';

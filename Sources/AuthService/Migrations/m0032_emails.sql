-- Why: an email address opens an account by a code, as a phone does. Codes to addresses are challenges of the purposes
-- email_login and link_email, which the previous release takes for none. It opens no session by email and leaves email_at
-- empty. To it such a session is opened by a code and never fresh.
-- Lock: ACCESS EXCLUSIVE on sessions, catalogue only; a new table otherwise.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
CREATE TABLE emails (
    person_id uuid PRIMARY KEY REFERENCES accounts (id),
    hash bytea NOT NULL UNIQUE,
    key_id text NOT NULL,
    other_hash bytea,
    other_key_id text,
    sealed bytea NOT NULL,
    linked_at timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT emails_other_has_key CHECK ((other_hash IS NULL) = (other_key_id IS NULL))
);
CREATE UNIQUE INDEX emails_other ON emails (other_hash) WHERE other_hash IS NOT NULL;
CREATE INDEX emails_keys ON emails (key_id, coalesce(other_key_id, ''));
COMMENT ON TABLE emails IS 'The look-up of an account by its email address: an HMAC, and the address itself encrypted.';
COMMENT ON COLUMN emails.other_hash IS 'The address under the other look-up key, while two are alive.';
ALTER TABLE sessions ADD COLUMN email_at timestamptz;
COMMENT ON COLUMN sessions.email_at IS 'When a code by email opened it; NULL: something else did.';
COMMENT ON COLUMN sessions.otp_at IS 'When a code by SMS opened it; NULL: something else did.';

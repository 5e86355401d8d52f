-- Why: identities of Apple and Google that open an account, what leads to a link, numbers that were taken off an account, and
-- what opened a session. The previous release opens sessions by codes only, and takes a code that was asked for to link
-- an identity or to change a phone for a sign-in's: let it end before the first link.
-- Lock: ACCESS EXCLUSIVE on sessions, catalogue only; new tables otherwise.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE sessions ADD COLUMN opened_by text CHECK (opened_by IN ('apple', 'google'));
COMMENT ON COLUMN sessions.opened_by IS 'The provider whose identity opened it; NULL: a code did.';
CREATE TABLE social_nonces (hash bytea PRIMARY KEY, provider text NOT NULL, expires_at timestamptz NOT NULL);
CREATE INDEX social_nonces_expires ON social_nonces (expires_at);
COMMENT ON TABLE social_nonces IS 'Issued and not yet presented.';
CREATE TABLE identities (
    hash bytea PRIMARY KEY,
    key_id text NOT NULL,
    person_id uuid NOT NULL REFERENCES accounts (id),
    provider text NOT NULL CHECK (provider IN ('apple', 'google')),
    sealed bytea NOT NULL,
    refresh_sealed bytea,
    linked_at timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT identities_person_provider UNIQUE (person_id, provider)
);
COMMENT ON TABLE identities IS 'The look-up of an account by issuer and subject: an HMAC, and what is known of the identity encrypted.';
COMMENT ON COLUMN identities.refresh_sealed IS 'Apple''s refresh token, encrypted: deletion revokes it.';
CREATE TABLE link_tokens (
    hash bytea PRIMARY KEY,
    identity_hash bytea NOT NULL,
    sealed bytea NOT NULL,
    refresh_sealed bytea,
    expires_at timestamptz NOT NULL
);
CREATE INDEX link_tokens_identity ON link_tokens (identity_hash);
CREATE INDEX link_tokens_expires ON link_tokens (expires_at);
COMMENT ON TABLE link_tokens IS 'An identity that proved itself and waits for the phone that it is to be linked by.';
CREATE TABLE challenge_bindings (
    challenge_id uuid PRIMARY KEY REFERENCES challenges (id) ON DELETE CASCADE,
    link_hash bytea,
    session_id uuid,
    CHECK (num_nonnulls(link_hash, session_id) = 1)
);
COMMENT ON TABLE challenge_bindings IS 'What a challenge is for, beside its purpose: the link token or the session that asked for it.';
CREATE TABLE phone_aliases (
    person_id uuid NOT NULL REFERENCES accounts (id),
    hash bytea NOT NULL,
    key_id text NOT NULL,
    sealed bytea NOT NULL,
    taken_off_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    until timestamptz NOT NULL,
    PRIMARY KEY (person_id, hash)
);
CREATE INDEX phone_aliases_hash ON phone_aliases (hash);
CREATE INDEX phone_aliases_until ON phone_aliases (until);
COMMENT ON TABLE phone_aliases IS 'Numbers that an account had: it can be recovered by them until then.';
CREATE TABLE apple_notifications (hash bytea PRIMARY KEY, forget_at timestamptz NOT NULL);
CREATE INDEX apple_notifications_forget ON apple_notifications (forget_at);
COMMENT ON TABLE apple_notifications IS 'The jti, keyed, of each that was taken.';

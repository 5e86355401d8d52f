-- Why: accounts, their phones, devices and sessions, challenges and what limits them, keys that sign access tokens.
-- Lock: new tables only. There is no previous release.
SET LOCAL search_path = {{schema}};
CREATE TABLE accounts (
    id uuid PRIMARY KEY,
    status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended', 'deleted')),
    role text NOT NULL DEFAULT 'user' CHECK (role IN ('user', 'staff', 'admin')),
    created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE accounts IS 'A person, by a random id that does not tell when they came.';
CREATE TABLE phones (
    hash bytea PRIMARY KEY,
    key_id text NOT NULL,
    person_id uuid NOT NULL UNIQUE REFERENCES accounts (id),
    sealed bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE phones IS 'The look-up of an account by its number: an HMAC, and the number itself encrypted.';
CREATE TABLE devices (
    id uuid PRIMARY KEY,
    person_id uuid NOT NULL REFERENCES accounts (id),
    secret_hash bytea NOT NULL,
    name text NOT NULL,
    platform text NOT NULL CHECK (platform IN ('ios', 'android', 'web')),
    push_token_sealed bytea,
    created_at timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX devices_person ON devices (person_id);
CREATE TABLE challenges (
    id uuid PRIMARY KEY,
    phone_hash bytea NOT NULL,
    phone_sealed bytea NOT NULL,
    purpose text NOT NULL,
    asker text NOT NULL,
    address_hash bytea NOT NULL,
    code_hash bytea NOT NULL,
    state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'used', 'superseded', 'dead')),
    wrong_tries integer NOT NULL DEFAULT 0 CHECK (wrong_tries BETWEEN 0 AND 3),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz NOT NULL
);
CREATE INDEX challenges_phone ON challenges (phone_hash, created_at);
CREATE INDEX challenges_address ON challenges (address_hash, created_at);
COMMENT ON COLUMN challenges.asker IS 'A device that proved itself, else the keyed hash of the client address.';
CREATE TABLE challenge_locks (
    phone_hash bytea NOT NULL, asker text NOT NULL, until timestamptz NOT NULL, PRIMARY KEY (phone_hash, asker)
);
CREATE TABLE sessions (
    id uuid PRIMARY KEY,
    person_id uuid NOT NULL REFERENCES accounts (id),
    device_id uuid NOT NULL REFERENCES devices (id),
    generation bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz
);
CREATE INDEX sessions_person ON sessions (person_id);
CREATE TABLE refresh_tokens (
    hash bytea PRIMARY KEY,
    session_id uuid NOT NULL REFERENCES sessions (id),
    generation bigint NOT NULL,
    replaced_at timestamptz,
    answer_sealed bytea
);
COMMENT ON COLUMN refresh_tokens.answer_sealed IS 'What replaced the token, for a client that lost the answer; read for 10 s.';
CREATE TABLE revocations (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session_id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    forget_at timestamptz NOT NULL
);
CREATE INDEX revocations_created ON revocations (created_at);
CREATE TABLE signing_keys (
    kid text PRIMARY KEY,
    public_key bytea NOT NULL,
    seed_sealed bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE freezes (
    case_id uuid PRIMARY KEY,
    person_id uuid,
    until timestamptz NOT NULL,
    ended_at timestamptz,
    begun jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX freezes_person ON freezes (person_id) WHERE ended_at IS NULL;
COMMENT ON TABLE freezes IS 'While a recovery case is open nothing about the account may be moved; begun is the answer to recovery.'

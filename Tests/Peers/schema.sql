-- The tables of the application in app.py.
CREATE TABLE challenges (
    id uuid PRIMARY KEY,
    phone text NOT NULL,
    code_hash bytea NOT NULL,
    tries integer NOT NULL DEFAULT 0,
    used_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL
);
CREATE INDEX challenges_phone ON challenges (phone, created_at);
CREATE TABLE persons (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    phone text NOT NULL UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE profiles (
    person_id uuid PRIMARY KEY REFERENCES persons (id),
    display_name text,
    date_of_birth date,
    gender text,
    looking_for text[],
    time_zone text,
    onboarding_status text NOT NULL DEFAULT 'questionnaire_pending',
    onboarding_step text NOT NULL DEFAULT 'profile',
    next_step text,
    next_kind text,
    next_href text,
    next_questionnaire text,
    matching_mode text NOT NULL DEFAULT 'none',
    skipped_fields text[] NOT NULL DEFAULT '{}',
    prefer_not_to_share_fields text[] NOT NULL DEFAULT '{}',
    completion integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    revision bigint NOT NULL DEFAULT 1
);
CREATE TABLE devices (
    id uuid PRIMARY KEY,
    person_id uuid NOT NULL REFERENCES persons (id),
    secret_hash bytea NOT NULL,
    name text NOT NULL,
    platform text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX devices_person ON devices (person_id);
CREATE TABLE sessions (
    id uuid PRIMARY KEY,
    person_id uuid NOT NULL REFERENCES persons (id),
    device_id uuid NOT NULL REFERENCES devices (id),
    refresh_hash bytea NOT NULL UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX sessions_person ON sessions (person_id);

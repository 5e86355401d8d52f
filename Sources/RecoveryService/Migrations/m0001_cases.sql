-- Why: recovery cases, their trail, who is barred from an account, and requests whose case has no answer yet.
-- Lock: new tables only. There is no previous release.
SET LOCAL search_path = {{schema}};
CREATE TABLE requests (
    key bytea PRIMARY KEY, case_id uuid NOT NULL, created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE requests IS 'The case id of a request, chosen once, so that a repetition speaks of the same case to auth.';
CREATE TABLE cases (
    id uuid PRIMARY KEY,
    account_id uuid,
    account_reference text NOT NULL,
    claimant_reference text NOT NULL,
    is_decoy boolean NOT NULL,
    status text NOT NULL,
    token_hash bytea,
    dispute_hash bytea NOT NULL,
    address_hash bytea,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    hold_until timestamptz NOT NULL,
    closed_at timestamptz
);
CREATE UNIQUE INDEX cases_open ON cases (account_reference, claimant_reference) WHERE closed_at IS NULL;
CREATE INDEX cases_claimant ON cases (claimant_reference, created_at);
CREATE INDEX cases_address ON cases (address_hash, created_at);
COMMENT ON COLUMN cases.is_decoy IS 'No account has the number, or the claimant is barred: the case lives on and opens nothing.';
CREATE TABLE case_trail (
    case_id uuid NOT NULL REFERENCES cases (id),
    position bigint NOT NULL,
    event text NOT NULL,
    status text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (case_id, position)
);
REVOKE UPDATE, DELETE ON case_trail FROM {{runtime}};
COMMENT ON TABLE case_trail IS 'What happened to a case, only ever added to.';
CREATE TABLE bars (
    account_reference text NOT NULL, claimant_reference text NOT NULL, until timestamptz NOT NULL,
    PRIMARY KEY (account_reference, claimant_reference)
);

-- Why: operators give and take roles; those of admin take a second operator. The previous release reads the roles and
-- knows nothing of proposals.
-- Lock: SHARE on accounts while an index over the few with a role is built.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
CREATE INDEX accounts_role ON accounts (role, id) WHERE role <> 'user';
CREATE TABLE role_proposals (
    person_id uuid PRIMARY KEY REFERENCES accounts (id),
    is_granted boolean NOT NULL,
    operator_name text NOT NULL,
    operator_key text,
    until timestamptz NOT NULL
);
CREATE INDEX role_proposals_until ON role_proposals (until);
COMMENT ON TABLE role_proposals IS 'Changes of the role admin that wait for a second operator.';
COMMENT ON COLUMN role_proposals.operator_key IS 'The public key on the bus of who asked.';

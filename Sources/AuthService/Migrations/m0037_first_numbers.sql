-- Why: whoever reads a person's emails can set the first number of their account. The owner takes it off within 72 hours, by the
-- address and with a device of before. The previous release leaves the columns empty: what it sets stays.
-- Lock: ACCESS EXCLUSIVE on emails, catalogue only, then SHARE while an index over rows without a token is built.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE emails ADD COLUMN first_number_at timestamptz, ADD COLUMN first_number_by uuid,
    ADD COLUMN first_number_token_hash bytea, ADD COLUMN was_strongest boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN emails.first_number_at IS 'When the account got its first number; NULL: never, or the number was taken off again.';
COMMENT ON COLUMN emails.first_number_by IS 'The session that set the number; NULL: a sign-in did.';
COMMENT ON COLUMN emails.first_number_token_hash IS 'Of what the email to the address carried, keyed; it takes the number off for 72 hours.';
COMMENT ON COLUMN emails.was_strongest IS 'No identity was linked then: a code by email was the strongest way in.';
CREATE UNIQUE INDEX emails_first_number ON emails (first_number_token_hash) WHERE first_number_token_hash IS NOT NULL;

-- Why: an owner hears of a case more than once, of many at once in one notice, and each notice has a token of its own that
-- stops what it speaks of; what became of a notice on each device is kept; a claimant who has shown what a stranger cannot is
-- not stopped by a dispute alone; an owner may admit only such claimants.
-- Lock: ACCESS EXCLUSIVE on cases, catalogue only; new tables otherwise. The previous release reads a column that goes here;
-- let it end first.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
CREATE TABLE dispute_tokens (
    hash bytea NOT NULL, case_id uuid NOT NULL REFERENCES cases (id), PRIMARY KEY (hash, case_id)
);
CREATE INDEX dispute_tokens_case ON dispute_tokens (case_id);
COMMENT ON TABLE dispute_tokens IS 'What stops a case, keyed: one token for each notice and each case that it speaks of.';
INSERT INTO dispute_tokens (hash, case_id)
SELECT dispute_hash, id FROM cases WHERE account_id IS NOT NULL AND NOT is_decoy AND closed_at IS NULL;
ALTER TABLE cases DROP COLUMN dispute_hash, ADD COLUMN told integer NOT NULL DEFAULT 1, ADD COLUMN facts_sealed bytea,
    ADD COLUMN proof text, ADD COLUMN is_of_staff boolean NOT NULL DEFAULT false, ADD COLUMN contested_at timestamptz;
ALTER TABLE cases ALTER COLUMN told SET DEFAULT 0;
COMMENT ON COLUMN cases.told IS 'What the owner was told: 0 nothing, 1 of the claim, 2 at the middle of the hold, 3 an hour before its end.';
COMMENT ON COLUMN cases.facts_sealed IS 'What the owner is told of the claim, encrypted: a masked number, a kind of device.';
COMMENT ON COLUMN cases.proof IS 'What of the account the claimant has shown: device or former_number.';
CREATE TABLE notices (
    id uuid NOT NULL, case_id uuid NOT NULL REFERENCES cases (id), kind text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(), PRIMARY KEY (case_id, id)
);
CREATE INDEX notices_id ON notices (id);
CREATE TABLE notice_deliveries (
    notice_id uuid NOT NULL, device_id uuid NOT NULL, outcome text NOT NULL, at timestamptz NOT NULL,
    PRIMARY KEY (notice_id, device_id)
);
COMMENT ON TABLE notice_deliveries IS 'What became of a notice on each device, as auth told.';
CREATE TABLE locks (person_id uuid PRIMARY KEY, since timestamptz NOT NULL DEFAULT clock_timestamp());
COMMENT ON TABLE locks IS 'Whose account only a proven claimant may ask for.';

-- Why: a number that an account had for a moment proves nothing of who claims the account. How long it was the account's number
-- stands with it, whoever moved it in and out meanwhile. Each number came when the one before it went, the first with the
-- account. The previous release writes no such time: what it takes off an account is no proof, and a way to it as before.
-- Lock: ACCESS EXCLUSIVE on phones, catalogue only, and on phone_aliases while its rows are written: numbers that were changed
-- within 90 days.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE phones ADD COLUMN held_before interval NOT NULL DEFAULT '0';
COMMENT ON COLUMN phones.held_before IS 'How long it was the account''s number before this row.';
ALTER TABLE phone_aliases ADD COLUMN held interval;
COMMENT ON COLUMN phone_aliases.held IS 'How long it was the account''s number altogether; NULL: nobody knows.';
UPDATE phone_aliases a SET held = taken_off_at - coalesce(
    (SELECT max(b.taken_off_at) FROM phone_aliases b WHERE b.person_id = a.person_id AND b.taken_off_at < a.taken_off_at),
    (SELECT created_at FROM accounts WHERE id = a.person_id));

-- Why: a code whose SMS was given up does not count against its person's limits. The previous release writes the old
-- states only and reads a challenge in the new one as expired.
-- Lock: ACCESS EXCLUSIVE on challenges for a check of rows that are a day old at the most.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE challenges DROP CONSTRAINT challenges_state_check;
ALTER TABLE challenges ADD CONSTRAINT challenges_state_check
    CHECK (state IN ('open', 'used', 'superseded', 'dead', 'undelivered'));

-- Why: auth counts the hold of a recovery itself and moves no account earlier, whatever recovery says. What is open already was
-- begun under a hold of three days at the least, unless its operator chose a shorter one, which is then three days for these.
-- Lock: ACCESS EXCLUSIVE on freezes while its rows are written: a row for each recovery case of the last weeks. The previous
-- release goes on: it writes no hold and gets the one that is usual.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE freezes ADD COLUMN hold_until timestamptz;
UPDATE freezes SET hold_until = created_at + interval '72 hours';
ALTER TABLE freezes ALTER COLUMN hold_until SET DEFAULT clock_timestamp() + interval '72 hours',
    ALTER COLUMN hold_until SET NOT NULL;
COMMENT ON COLUMN freezes.hold_until IS 'The account is not moved before this; it only ever becomes later.';

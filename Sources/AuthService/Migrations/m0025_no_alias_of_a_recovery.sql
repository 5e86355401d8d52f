-- Why: a number that a recovery replaced may be a thief's, and was kept as a way to recover the account for 90 days. It goes, with
-- all that the account had before it. Freezes name recoveries of the last month; of older ones only what no session took off
-- tells. The previous release keeps such a number still: let it end first.
-- Lock: ROW EXCLUSIVE on the rows that go.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
DELETE FROM phone_aliases a USING (
    SELECT person_id, max(at) AS at FROM (
        SELECT person_id, applied_at AS at FROM freezes WHERE applied_at IS NOT NULL
        UNION ALL SELECT person_id, taken_off_at FROM phone_aliases WHERE changed_by IS NULL
    ) AS recoveries GROUP BY person_id
) AS last
WHERE a.person_id = last.person_id AND a.taken_off_at <= last.at;

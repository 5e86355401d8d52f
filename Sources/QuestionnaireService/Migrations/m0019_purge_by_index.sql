-- Why: PostgreSQL cannot search an index by clock_timestamp(), because that may differ from row to row. So each look for old rows
-- read the whole history. With three million people that took longer than the five seconds that a statement has, each time.
-- Lock: none. The previous release calls the same function.
CREATE OR REPLACE FUNCTION purge_history(most bigint) RETURNS bigint LANGUAGE sql
SECURITY DEFINER SET search_path = {{schema}}, pg_temp AS $$
    WITH gone AS (
        DELETE FROM answer_history WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM answer_history WHERE changed_at < now() - interval '365 days'
            LIMIT most FOR UPDATE SKIP LOCKED))
        RETURNING 1)
    SELECT count(*) FROM gone
$$;

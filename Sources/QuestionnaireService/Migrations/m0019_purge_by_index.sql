-- Why: no index is searched by clock_timestamp(), which may be another one for each row. So each look for old rows read the whole
-- history: with three million people longer than the five seconds that a statement has, again and again.
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

-- Why: an operator may split answer_history into partitions (deploy/partition-table.sql). A ctid names a row of one partition only, so
-- the function could have deleted rows of other partitions that are not old.
-- Lock: none. The previous release calls the same function.
CREATE OR REPLACE FUNCTION purge_history(most bigint) RETURNS bigint LANGUAGE sql
SECURITY DEFINER SET search_path = {{schema}}, pg_temp AS $$
    WITH old AS MATERIALIZED (
        SELECT tableoid AS part, ctid AS place FROM answer_history WHERE changed_at < now() - interval '365 days'
        LIMIT most FOR UPDATE SKIP LOCKED),
    gone AS (
        -- The array lets PostgreSQL go to the rows without a search. It does so in each partition, so the part is compared, too.
        DELETE FROM answer_history h USING old
        WHERE h.ctid = ANY (ARRAY(SELECT place FROM old)) AND (h.tableoid, h.ctid) = (part, place)
        RETURNING 1)
    SELECT count(*) FROM gone
$$;

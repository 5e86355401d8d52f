-- Why: an autovacuum of sessions holds a lock that SHARE waits for, for minutes where the table is large. The services give a
-- lock up after 200 ms, and PostgreSQL cancels an autovacuum after 1 s of waiting (deadlock_timeout). So no version with a new mark
-- could be published meanwhile. The first lock waits for an autovacuum and not for people, nor do they wait for it. Once it is held,
-- no autovacuum begins, and the second one waits for people alone, as before.
-- Lock: none. The previous release goes on: its publications wait in the same way.
CREATE OR REPLACE FUNCTION wait_for_answers() RETURNS trigger
LANGUAGE plpgsql SET search_path = {{schema}}, pg_temp AS $$
DECLARE patience text := current_setting('lock_timeout');
BEGIN
    PERFORM set_config('lock_timeout', '2s', true);
    LOCK TABLE sessions IN SHARE UPDATE EXCLUSIVE MODE;
    PERFORM set_config('lock_timeout', patience, true);
    LOCK TABLE sessions IN SHARE MODE;
    RETURN NULL;
END $$;

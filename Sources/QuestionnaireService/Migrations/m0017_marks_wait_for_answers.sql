-- Why: no answer may be stored open after a version was published that marks its question. Every transaction that stores answers
-- updates its session first, and reads the marks in that statement. So a version with a new mark waits here until those under way
-- are committed, and later ones wait until the version is committed. PostgreSQL takes the lock of a table before it reads any.
-- Lock: SHARE ROW EXCLUSIVE on sensitive_questions, catalogue only.
-- The previous release goes on: its publications wait, too, but its writes read the marks every five seconds only.
SET LOCAL lock_timeout = '2s';

CREATE FUNCTION wait_for_answers() RETURNS trigger LANGUAGE plpgsql SET search_path = {{schema}}, pg_temp AS $$
BEGIN
    LOCK TABLE sessions IN SHARE MODE;
    RETURN NULL;
END $$;
CREATE TRIGGER waits_for_answers AFTER INSERT ON sensitive_questions FOR EACH ROW EXECUTE FUNCTION wait_for_answers();

-- Why: whoever changes an answer again and again filled the tables without end. Of each answer the last 32 revisions are kept, of
-- a session the first snapshot and the last eight, the last 256 mutations and the last eight migrations. The triggers do it beside
-- the write and not at each: for a while there may be some dozens more.
-- What an answer took is noted when it is given first, so that statistics need no history.
-- Lock: ACCESS EXCLUSIVE on answers and mutations and SHARE ROW EXCLUSIVE on the histories, catalogue only: the default of the time
-- is evaluated once, and no row is read or written.
-- The previous release goes on: what it writes is bounded, too, and its answers have no time. While both run, it cannot take the
-- tenth snapshot of a session, nor its ninth migration; this one does it when it is asked again.
SET LOCAL lock_timeout = '2s';

ALTER TABLE answers ADD COLUMN took real;
COMMENT ON COLUMN answers.took IS 'Seconds from the change before it in the session, or its opening, to the first answer.';
ALTER TABLE mutations ADD COLUMN at timestamptz NOT NULL DEFAULT now();
ALTER TABLE mutations ALTER COLUMN at SET DEFAULT clock_timestamp();
COMMENT ON TABLE answer_history IS 'The last revisions of every answer; rows are added, and go where they are too many or too old.';

-- By the right of the owner: the role that the service runs as adds to the histories, and does nothing else.
CREATE FUNCTION bound_history() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = {{schema}}, pg_temp AS $$
BEGIN
    DELETE FROM answer_history WHERE person_id = NEW.person_id AND session_id = NEW.session_id
        AND question = NEW.question AND revision <= NEW.revision - 32;
    RETURN NULL;
END $$;
CREATE TRIGGER bounded AFTER INSERT ON answer_history FOR EACH ROW
    WHEN (NEW.revision > 32 AND NEW.revision % 16 = 0) EXECUTE FUNCTION bound_history();

CREATE FUNCTION bound_snapshots() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = {{schema}}, pg_temp AS $$
BEGIN
    DELETE FROM snapshots WHERE person_id = NEW.person_id AND session_id = NEW.session_id
        AND number > 1 AND number <= NEW.number - 8;
    RETURN NULL;
END $$;
CREATE TRIGGER bounded AFTER INSERT ON snapshots FOR EACH ROW WHEN (NEW.number > 9) EXECUTE FUNCTION bound_snapshots();

CREATE FUNCTION bound_migrations() RETURNS trigger LANGUAGE plpgsql SET search_path = {{schema}}, pg_temp AS $$
BEGIN
    DELETE FROM session_migrations WHERE person_id = NEW.person_id AND session_id = NEW.session_id
        AND number <= NEW.number - 8;
    RETURN NULL;
END $$;
CREATE TRIGGER bounded AFTER INSERT ON session_migrations FOR EACH ROW
    WHEN (NEW.number > 8) EXECUTE FUNCTION bound_migrations();

-- By chance, which nobody can steer by what they send.
CREATE FUNCTION bound_mutations() RETURNS trigger LANGUAGE plpgsql SET search_path = {{schema}}, pg_temp AS $$
BEGIN
    DELETE FROM mutations WHERE person_id = NEW.person_id AND session_id = NEW.session_id AND at <= (
        SELECT at FROM mutations WHERE person_id = NEW.person_id AND session_id = NEW.session_id
        ORDER BY at DESC OFFSET 256 LIMIT 1);
    RETURN NULL;
END $$;
CREATE TRIGGER bounded AFTER INSERT ON mutations FOR EACH ROW WHEN (random() < 0.0625) EXECUTE FUNCTION bound_mutations();

-- What is older than a year goes. That, too, the service's role may do by this function only.
CREATE FUNCTION purge_history(most bigint) RETURNS bigint LANGUAGE sql
SECURITY DEFINER SET search_path = {{schema}}, pg_temp AS $$
    WITH gone AS (
        DELETE FROM answer_history WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM answer_history WHERE changed_at < clock_timestamp() - interval '365 days'
            LIMIT most FOR UPDATE SKIP LOCKED))
        RETURNING 1)
    SELECT count(*) FROM gone
$$;
REVOKE ALL ON FUNCTION purge_history(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION purge_history(bigint) TO {{runtime}};

-- Why: each read of a profile also looked up the person's plans, consents and tasks. The look-ups took as long as the rest of the
-- statement, and most found nothing. Triggers keep copies in the profile, also of what the previous release writes. A profile from
-- before has NULL until a replica reads it, which then copies.
-- Lock: SHARE ROW EXCLUSIVE on the three tables, then ACCESS EXCLUSIVE on profiles, catalogue only.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
-- Before profiles, so that nobody who reads a profile waits while these are waited for.
LOCK TABLE person_plans, consents, operator_tasks IN SHARE ROW EXCLUSIVE MODE;
ALTER TABLE profiles ADD COLUMN copied_plans text[], ADD COLUMN copied_consents text[], ADD COLUMN copied_tasks text[];
ALTER TABLE profiles ALTER COLUMN copied_plans SET DEFAULT '{}', ALTER COLUMN copied_consents SET DEFAULT '{}',
    ALTER COLUMN copied_tasks SET DEFAULT '{}';
COMMENT ON COLUMN profiles.copied_plans IS
    'Of person_plans, separated by U+001F: app, plan, version, whether it was complete. NULL: not copied yet.';
COMMENT ON COLUMN profiles.copied_consents IS
    'Of consents, separated by U+001F: plan, document, version, microseconds since 1970. NULL: not copied yet.';
COMMENT ON COLUMN profiles.copied_tasks IS 'Of operator_tasks. NULL: not copied yet.';
CREATE FUNCTION copies_of(person uuid, OUT plans text[], OUT consents text[], OUT tasks text[])
LANGUAGE plpgsql STABLE AS $$
BEGIN
    plans := ARRAY(
        SELECT app || E'\x1f' || plan || E'\x1f' || version || E'\x1f' || (completed_at IS NOT NULL)
        FROM {{schema}}.person_plans WHERE person_id = person);
    consents := ARRAY(
        SELECT c.plan || E'\x1f' || c.document || E'\x1f' || c.version || E'\x1f'
            || (extract(epoch FROM c.accepted_at) * 1000000)::bigint
        FROM {{schema}}.consents c WHERE c.person_id = person);
    tasks := ARRAY(SELECT task FROM {{schema}}.operator_tasks WHERE person_id = person);
END $$;
CREATE FUNCTION copy_to_profile(person uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- Whoever changes the person meanwhile comes first, and the next statement sees that change.
    PERFORM FROM {{schema}}.profiles WHERE person_id = person FOR NO KEY UPDATE;
    UPDATE {{schema}}.profiles SET (copied_plans, copied_consents, copied_tasks) = (SELECT * FROM {{schema}}.copies_of(person))
    WHERE person_id = person;
END $$;
CREATE FUNCTION copy_row_to_profile() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM {{schema}}.copy_to_profile(CASE WHEN TG_OP = 'DELETE' THEN OLD.person_id ELSE NEW.person_id END);
    RETURN NULL;
END $$;
CREATE TRIGGER copies AFTER INSERT OR DELETE ON person_plans FOR EACH ROW EXECUTE FUNCTION copy_row_to_profile();
-- The progress of steps is not copied.
CREATE TRIGGER copies_of_changes AFTER UPDATE ON person_plans FOR EACH ROW
    WHEN ((OLD.plan, OLD.version, OLD.completed_at IS NULL) IS DISTINCT FROM (NEW.plan, NEW.version, NEW.completed_at IS NULL))
    EXECUTE FUNCTION copy_row_to_profile();
CREATE TRIGGER copies AFTER INSERT OR UPDATE OR DELETE ON consents FOR EACH ROW EXECUTE FUNCTION copy_row_to_profile();
CREATE TRIGGER copies AFTER INSERT OR UPDATE OR DELETE ON operator_tasks FOR EACH ROW EXECUTE FUNCTION copy_row_to_profile();

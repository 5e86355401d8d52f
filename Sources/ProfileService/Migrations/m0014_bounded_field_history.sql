-- Why: whoever changes a field again and again filled the table without end. Of each field the last 32 states are kept, and each for
-- a year. The trigger works by chance, which nobody can steer: for a while there may be some dozens more. The previous release goes on.
-- Lock: SHARE on profile_field_history while the index is built, then SHARE ROW EXCLUSIVE, catalogue only.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
CREATE INDEX profile_field_history_changed_at ON profile_field_history (changed_at);
CREATE FUNCTION bound_field_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM {{schema}}.profile_field_history WHERE person_id = NEW.person_id AND key = NEW.key AND id <= (
        SELECT id FROM {{schema}}.profile_field_history WHERE person_id = NEW.person_id AND key = NEW.key
        ORDER BY id DESC OFFSET 32 LIMIT 1);
    RETURN NULL;
END $$;
CREATE TRIGGER bounded AFTER INSERT ON profile_field_history FOR EACH ROW
    WHEN (random() < 0.0625) EXECUTE FUNCTION bound_field_history();

-- Why: answers to questions about health are sealed. A question that any version marks counts in every version, so its key stands
-- in a table, which a trigger fills when a version is published. A question that was renamed is the same question. Answers from
-- before are sealed by a command: the functions that seal a history and a snapshot take any open answer to such a question now.
-- Lock: SHARE ROW EXCLUSIVE on definitions, catalogue only.
-- The previous release goes on, but does not know a sealed answer that is no date; see QUESTIONNAIRE_SEAL_HEALTH.
SET LOCAL lock_timeout = '2s';

CREATE TABLE sensitive_questions (
    questionnaire text NOT NULL,
    question text NOT NULL,
    PRIMARY KEY (questionnaire, question)
);
COMMENT ON TABLE sensitive_questions IS 'Questions that some published version marks as sensitive.';

CREATE FUNCTION note_sensitive_questions() RETURNS trigger LANGUAGE plpgsql SET search_path = {{schema}}, pg_temp AS $$
DECLARE content jsonb := NEW.content::jsonb;
BEGIN
    INSERT INTO sensitive_questions
    SELECT NEW.questionnaire, q ->> 'key'
    FROM jsonb_array_elements(content -> 'sections') AS s, jsonb_array_elements(s -> 'questions') AS q
    WHERE q ->> 'sensitive' IS NOT NULL
    ON CONFLICT DO NOTHING;
    -- Renames of every version count, since the mark may come later than the rename.
    WITH RECURSIVE renames AS (
        SELECT m -> 'rename' ->> 'old' AS before, m -> 'rename' ->> 'new' AS after
        FROM definitions d, jsonb_array_elements(d.content::jsonb -> 'migrations') AS m
        WHERE d.questionnaire = NEW.questionnaire AND m ? 'rename'
    ), marked AS (
        SELECT question FROM sensitive_questions WHERE questionnaire = NEW.questionnaire
        UNION
        SELECT CASE marked.question WHEN before THEN after ELSE before END
        FROM marked JOIN renames ON marked.question IN (before, after)
    )
    INSERT INTO sensitive_questions SELECT NEW.questionnaire, question FROM marked
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER notes_sensitive_questions AFTER INSERT ON definitions FOR EACH ROW EXECUTE FUNCTION note_sensitive_questions();

-- Whether a stored value stands open and should not. A sealed date and another sealed value have the same form.
CREATE FUNCTION is_to_be_sealed(person uuid, session uuid, place text, value jsonb) RETURNS boolean
LANGUAGE sql STABLE SET search_path = {{schema}}, pg_temp AS $$
    SELECT coalesce(is_open_date(value), false) OR (
        coalesce(jsonb_typeof(value), 'null') <> 'null' AND NOT coalesce(is_sealed_date(value), false) AND EXISTS (
            SELECT FROM sessions s JOIN sensitive_questions q ON q.questionnaire = s.questionnaire
            WHERE s.person_id = person AND s.session_id = session AND q.question = split_part(place, '/', 1)))
$$;

CREATE OR REPLACE FUNCTION seal_history(person uuid, session uuid, place text, in_revision bigint, sealed jsonb) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = {{schema}}, pg_temp AS $$
    UPDATE answer_history SET value = sealed
    WHERE (person_id, session_id, question, revision) = (person, session, place, in_revision)
        AND is_to_be_sealed(person, session, place, value) AND is_sealed_date(sealed)
$$;
CREATE OR REPLACE FUNCTION seal_snapshot(person uuid, session uuid, place text, in_number bigint, sealed jsonb) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = {{schema}}, pg_temp AS $$
    UPDATE snapshots SET answers = jsonb_set(answers, ARRAY[place, 'value'], sealed, false)
    WHERE (person_id, session_id, number) = (person, session, in_number)
        AND is_to_be_sealed(person, session, place, answers -> place -> 'value') AND is_sealed_date(sealed)
$$;

-- Why: dates among answers are sealed, and those that stand in the history and in snapshots from before are to be sealed, too. The
-- role that the service runs as changes neither; these functions do that one thing, and what is sealed they leave alone.
-- Lock: none; no table is touched.
-- The previous release goes on, but does not know a sealed date; see QUESTIONNAIRE_SEAL_DATES.

-- As DateSealer tells it.
CREATE FUNCTION is_open_date(value jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(value @? 'strict $ ? (@ like_regex "^[0-9]{4}-[0-9]{2}-[0-9]{2}$")', false)
$$;
CREATE FUNCTION is_sealed_date(value jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT value ->> 'sealed' IS NOT NULL AND value = jsonb_build_object('sealed', value ->> 'sealed')
$$;

CREATE FUNCTION seal_history(person uuid, session uuid, place text, in_revision bigint, sealed jsonb) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = {{schema}}, pg_temp AS $$
    UPDATE answer_history SET value = sealed
    WHERE (person_id, session_id, question, revision) = (person, session, place, in_revision)
        AND is_open_date(value) AND is_sealed_date(sealed)
$$;
CREATE FUNCTION seal_snapshot(person uuid, session uuid, place text, in_number bigint, sealed jsonb) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = {{schema}}, pg_temp AS $$
    UPDATE snapshots SET answers = jsonb_set(answers, ARRAY[place, 'value'], sealed, false)
    WHERE (person_id, session_id, number) = (person, session, in_number)
        AND is_open_date(answers -> place -> 'value') AND is_sealed_date(sealed)
$$;
REVOKE ALL ON FUNCTION seal_history(uuid, uuid, text, bigint, jsonb), seal_snapshot(uuid, uuid, text, bigint, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION seal_history(uuid, uuid, text, bigint, jsonb), seal_snapshot(uuid, uuid, text, bigint, jsonb)
    TO {{runtime}};

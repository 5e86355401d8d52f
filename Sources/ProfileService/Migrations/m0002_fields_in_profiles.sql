-- Why: a profile is read far more often than written, and read whole: one row instead of a row per field gathered at each
-- read. The rows per field become what they are good for, the history of each field.
-- Lock: ACCESS EXCLUSIVE on both tables while each profile is written once. There is no previous release.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE profiles ADD COLUMN fields jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN profiles.fields IS 'By key {"state": answered|skipped|declined, "value"}, or null where it was cleared.';
UPDATE profiles p SET fields = f.fields
FROM (
    SELECT person_id, jsonb_object_agg(key, jsonb_strip_nulls(jsonb_build_object('state', state, 'value', value))) AS fields
    FROM profile_fields GROUP BY person_id
) f WHERE f.person_id = p.person_id;
ALTER TABLE profile_fields RENAME TO profile_field_history;
ALTER TABLE profile_field_history RENAME COLUMN updated_at TO changed_at;
ALTER TABLE profile_field_history DROP CONSTRAINT profile_fields_pkey;
ALTER TABLE profile_field_history ADD COLUMN id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY;
ALTER TABLE profile_field_history DROP CONSTRAINT profile_fields_state_check;
ALTER TABLE profile_field_history ADD CHECK (state IN ('answered', 'skipped', 'declined', 'cleared'));
CREATE INDEX ON profile_field_history (person_id, key, id);

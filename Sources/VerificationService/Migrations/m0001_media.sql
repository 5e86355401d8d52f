-- Why: what is known of each picture that a person uploads. Its bytes and its key lie outside the database.
-- Lock: new tables only. There is no previous release.
SET LOCAL search_path = {{schema}};
CREATE TABLE media (
    media_id uuid PRIMARY KEY,
    person_id uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('profile_photo', 'verification', 'document', 'recovery_evidence')),
    content_type text NOT NULL CHECK (content_type IN ('image/jpeg', 'image/png')),
    length integer NOT NULL CHECK (length BETWEEN 1 AND 8388608),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX media_by_person ON media (person_id);
COMMENT ON TABLE media IS 'Pictures that a person uploads.';

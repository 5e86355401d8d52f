-- Why: what is known of each picture that a person uploads. Its bytes and its key lie outside the database.
-- Lock: new tables only. There is no previous release.
SET LOCAL search_path = {{schema}};
CREATE TABLE media (
    media_id uuid PRIMARY KEY,
    person_id uuid NOT NULL,
    purpose text NOT NULL CHECK (purpose IN ('profile_photo', 'verification', 'document', 'recovery_evidence')),
    content_type text NOT NULL CHECK (content_type IN ('image/jpeg', 'image/png')),
    length integer NOT NULL CHECK (length BETWEEN 1 AND 8388608),
    state text NOT NULL DEFAULT 'awaited' CHECK (state IN ('awaited', 'arriving', 'stored')),
    position integer CHECK (position BETWEEN 1 AND 6),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz,
    CHECK (position IS NULL OR purpose = 'profile_photo' AND state = 'stored'),
    UNIQUE (person_id, position) DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX media_by_expiry ON media (expires_at) WHERE expires_at IS NOT NULL;
COMMENT ON TABLE media IS 'Pictures that a person uploads. There is a row before there is a key or a byte.';
COMMENT ON COLUMN media.length IS 'As announced; of a stored picture what is left of it without metadata.';
COMMENT ON COLUMN media.position IS 'The place among the photos of the profile; NULL for a picture that is none of them.';
COMMENT ON COLUMN media.expires_at IS 'Then the picture is destroyed. NULL for a photo of the profile.';
CREATE TABLE picture_home (id uuid PRIMARY KEY DEFAULT gen_random_uuid());
INSERT INTO picture_home DEFAULT VALUES;
COMMENT ON TABLE picture_home IS 'The identity of this database. The folders of pictures carry it, so that no other database takes their files for orphans.';
CREATE TABLE upload_counts (
    person_id uuid PRIMARY KEY,
    day date NOT NULL,
    uploads integer NOT NULL
);
COMMENT ON TABLE upload_counts IS 'How many uploads a person began on the last day (UTC) with one.';
CREATE TABLE destructions (
    media_id uuid PRIMARY KEY,
    purpose text NOT NULL,
    reason text NOT NULL,
    due_at timestamptz NOT NULL
);
CREATE INDEX destructions_by_time ON destructions (due_at);
COMMENT ON TABLE destructions IS 'Pictures without a row in media whose key and bytes are destroyed. The row goes last.';

-- Why: a person may also be verified by a document, with a consent, a session and a verdict of its own. A table of its own leaves
-- alone what the previous release does with the verifications by a photo.
-- Lock: a new table only. The previous release does not know it.
SET LOCAL search_path = {{schema}};
CREATE TABLE id_verifications (
    person_id uuid PRIMARY KEY,
    session_id uuid NOT NULL UNIQUE,
    status text NOT NULL CHECK (status IN ('declined', 'awaiting_capture', 'verified', 'rejected', 'manual_review', 'expired')),
    is_consent_in_force boolean NOT NULL,
    consent_version text NOT NULL,
    consent_locale text NOT NULL,
    consent_given_at timestamptz NOT NULL,
    tries integer NOT NULL,
    begun integer NOT NULL,
    counted_from timestamptz NOT NULL,
    media_id uuid,
    back_media_id uuid,
    since timestamptz,
    changed_at timestamptz NOT NULL,
    verified_at timestamptz
);
CREATE INDEX id_verifications_in_review ON id_verifications (since) WHERE status = 'manual_review';
COMMENT ON TABLE id_verifications IS 'A person''s newest session of a verification by a document. Nothing that a document says is in it. The columns mean what they do in verifications.';
COMMENT ON COLUMN id_verifications.media_id IS 'The upload of the front; NULL once it is destroyed.';
COMMENT ON COLUMN id_verifications.back_media_id IS 'The upload of the back; NULL if there is none, and once it is destroyed.';

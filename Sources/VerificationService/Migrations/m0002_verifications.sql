-- Why: what is known of each person's verification. Whoever never agreed has no row.
-- Lock: a new table only. There is no previous release.
SET LOCAL search_path = {{schema}};
CREATE TABLE verifications (
    person_id uuid PRIMARY KEY,
    session_id uuid NOT NULL UNIQUE,
    status text NOT NULL CHECK (status IN ('declined', 'awaiting_capture', 'processing', 'overdue', 'verified',
        'liveness_failed', 'quality_too_low', 'inconclusive', 'manual_review', 'expired')),
    is_consent_in_force boolean NOT NULL,
    consent_version text NOT NULL,
    consent_locale text NOT NULL,
    consent_given_at timestamptz NOT NULL,
    tries integer NOT NULL,
    begun integer NOT NULL,
    counted_from timestamptz NOT NULL,
    media_id uuid,
    since timestamptz,
    changed_at timestamptz NOT NULL,
    verified_at timestamptz
);
CREATE INDEX verifications_in_review ON verifications (since) WHERE status = 'manual_review';
COMMENT ON TABLE verifications IS 'A person''s newest session of a verification, and what came of it.';
COMMENT ON COLUMN verifications.is_consent_in_force IS 'False once the person took the consent back.';
COMMENT ON COLUMN verifications.consent_given_at IS 'By the clock of the app.';
COMMENT ON COLUMN verifications.tries IS 'Sessions that were judged, or are being judged, since the tries last began.';
COMMENT ON COLUMN verifications.begun IS 'Sessions that began within a day from counted_from.';
COMMENT ON COLUMN verifications.media_id IS 'The upload of the session; NULL once it is destroyed.';
COMMENT ON COLUMN verifications.since IS 'When the open session began or was completed; NULL if none is open.';

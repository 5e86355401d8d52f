-- Why: a person may decline to be verified, which is no failure. The previous release reads such a state as none.
-- Lock: ACCESS EXCLUSIVE on profiles, catalogue only: what the old check allowed is not read again.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE profiles
    DROP CONSTRAINT profiles_photo_verification_check,
    DROP CONSTRAINT profiles_id_verification_check,
    ADD CONSTRAINT profiles_photo_verification_check
        CHECK (photo_verification IN ('verified', 'failed', 'in_review', 'declined')) NOT VALID,
    ADD CONSTRAINT profiles_id_verification_check
        CHECK (id_verification IN ('verified', 'failed', 'in_review', 'declined')) NOT VALID;

-- Why: a judge may have a check of its own, which takes the place of a photo.
-- Lock: ACCESS EXCLUSIVE on verifications, without a scan. The release before this one leaves the column alone.
SET LOCAL search_path = {{schema}};
ALTER TABLE verifications ADD COLUMN provider_session text CHECK (char_length(provider_session) BETWEEN 1 AND 64);
COMMENT ON COLUMN verifications.provider_session IS 'The check at the judge''s provider that the open session waits for; NULL if none is open.';

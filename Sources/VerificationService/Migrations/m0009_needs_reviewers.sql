-- Why: a check at a judge's provider leaves no picture, so reviewers decide by a photo of one more session.
-- Lock: ACCESS EXCLUSIVE on verifications, without a scan. The release before this one leaves the column alone.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE verifications ADD COLUMN needs_reviewers boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN verifications.needs_reviewers IS 'True once the last check was refused without a picture: the next session takes a photo for reviewers.';

-- Why: smaller sizes of a photo are made once others may see it, and a judge of the operator's own may approve photos. Photos that
-- stand now get their sizes as soon as this release runs.
-- Lock: ACCESS EXCLUSIVE on media, without a rewrite, while the index is built. The previous release goes on: each column has a
-- default or may be NULL, and it lists what a judge is asked about for reviewers too.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE media ADD COLUMN sizes_due_at timestamptz DEFAULT now(),
    ADD COLUMN sizes_attempts smallint NOT NULL DEFAULT 0,
    ADD COLUMN judge_asked_at timestamptz;
COMMENT ON COLUMN media.sizes_due_at IS 'From when on the smaller sizes of an approved photo are to be made; NULL once that was tried.';
COMMENT ON COLUMN media.sizes_attempts IS 'How often that was begun. After three times it is given up.';
COMMENT ON COLUMN media.judge_asked_at IS 'Since when a judge is asked about the photo, so reviewers are not, for 25 hours; NULL where none is.';
CREATE INDEX media_sizes_due ON media (sizes_due_at)
    WHERE position IS NOT NULL AND moderation = 'approved' AND sizes_due_at IS NOT NULL;

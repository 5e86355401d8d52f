-- Why: a photo may have to be approved before others see it, and profile is told which photo stands for the person. It has been told
-- of none so far, so those that stand now are marked.
-- Lock: ACCESS EXCLUSIVE on media while its rows are checked, the first photos are marked and the indexes are built.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE media
    ADD COLUMN moderation text NOT NULL DEFAULT 'approved' CHECK (moderation IN ('pending', 'approved', 'refused')),
    ADD COLUMN told_address text;
COMMENT ON COLUMN media.moderation IS 'Whether others may see the photo. It is set when the picture gets its first place.';
COMMENT ON COLUMN media.told_address IS 'The unsigned address under which profile knows the photo; empty if profile must be told again; NULL if profile does not know it.';
UPDATE media SET told_address = '' WHERE position = 1;
CREATE INDEX media_in_review ON media (created_at) WHERE moderation = 'pending';
CREATE INDEX media_told ON media (told_address COLLATE "C") WHERE told_address <> '';
CREATE INDEX media_to_tell ON media (person_id) WHERE told_address = '';

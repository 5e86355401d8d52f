-- Why: a draft can be deleted. Its row stays without the content, so that its number is not given to another draft. The
-- previous release shows such a draft as an empty one.
-- Lock: ACCESS EXCLUSIVE on drafts, for a change of the catalogue only.
ALTER TABLE drafts ADD COLUMN deleted_at timestamptz;
COMMENT ON COLUMN drafts.deleted_at IS 'From then on the content is empty, and nobody is shown the draft.';

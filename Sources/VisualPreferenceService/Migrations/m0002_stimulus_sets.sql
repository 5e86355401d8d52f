-- Why: the stimulus set is published, checked and compared like a plan.
-- Lock: new tables only. There is no previous release.
SET LOCAL search_path = {{schema}};
CREATE TABLE stimulus_sets (
    stimuli text NOT NULL,
    version integer NOT NULL CHECK (version > 0),
    content_hash bytea NOT NULL CHECK (octet_length(content_hash) = 32),
    content text NOT NULL,
    published_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (stimuli, version)
);
COMMENT ON TABLE stimulus_sets IS 'Published versions of the stimulus set; a row never changes.';
COMMENT ON COLUMN stimulus_sets.stimuli IS 'Always stimuli: all sets are versions of one document.';
COMMENT ON COLUMN stimulus_sets.content IS 'RFC 8785 form; content_hash is its SHA-256.';
CREATE TABLE stimulus_set_drafts (
    stimuli text NOT NULL,
    number integer NOT NULL CHECK (number > 0),
    revision bigint NOT NULL DEFAULT 1 CHECK (revision > 0),
    content text NOT NULL,
    copy_of integer,
    published_as integer,
    updated_at timestamptz NOT NULL DEFAULT now(),
    deleted_at timestamptz,
    PRIMARY KEY (stimuli, number),
    FOREIGN KEY (stimuli, published_as) REFERENCES stimulus_sets
);
COMMENT ON TABLE stimulus_set_drafts IS 'Sets that are still written; one that was published stays as it was then.';
COMMENT ON COLUMN stimulus_set_drafts.revision IS 'Goes up with every change.';
COMMENT ON COLUMN stimulus_set_drafts.copy_of IS 'Always NULL: a draft of the set begins from its content.';
COMMENT ON COLUMN stimulus_set_drafts.deleted_at IS 'From then on the content is empty, and nobody is shown the draft.';

-- Why: the library of fields is published, checked and compared like a plan. The previous release goes on with its own library.
-- Lock: new tables only. The previous release does not know them.
SET LOCAL search_path = {{schema}};
CREATE TABLE field_libraries (
    fields text NOT NULL,
    version integer NOT NULL CHECK (version > 0),
    content_hash bytea NOT NULL CHECK (octet_length(content_hash) = 32),
    content text NOT NULL,
    published_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (fields, version)
);
COMMENT ON TABLE field_libraries IS 'Published versions of the library of fields; a row never changes.';
COMMENT ON COLUMN field_libraries.fields IS 'The key of the library: there is one.';
COMMENT ON COLUMN field_libraries.content IS 'RFC 8785 form; content_hash is its SHA-256.';
CREATE TABLE field_library_drafts (
    fields text NOT NULL,
    number integer NOT NULL CHECK (number > 0),
    revision bigint NOT NULL DEFAULT 1 CHECK (revision > 0),
    content text NOT NULL,
    copy_of integer,
    published_as integer,
    updated_at timestamptz NOT NULL DEFAULT now(),
    deleted_at timestamptz,
    PRIMARY KEY (fields, number),
    FOREIGN KEY (fields, published_as) REFERENCES field_libraries
);
COMMENT ON TABLE field_library_drafts IS 'Libraries that are still written; one that was published stays as it was then.';
COMMENT ON COLUMN field_library_drafts.revision IS 'Goes up with every change.';
COMMENT ON COLUMN field_library_drafts.copy_of IS 'Always NULL: a draft of the library begins from its content.';
COMMENT ON COLUMN field_library_drafts.deleted_at IS 'From then on the content is empty, and nobody is shown the draft.';

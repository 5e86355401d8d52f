-- Why: definitions are drafted, published and retired through the editor's routes.
-- Lock: none that anybody waits for; every table is new.
-- The previous release goes on: it does not know of retirement, and begins sessions with a retired version until it is gone.

CREATE TABLE drafts (
    questionnaire text NOT NULL,
    number integer NOT NULL CHECK (number > 0),
    revision bigint NOT NULL DEFAULT 1 CHECK (revision > 0),
    content text NOT NULL,
    copy_of integer,
    published_as integer,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (questionnaire, number),
    FOREIGN KEY (questionnaire, published_as) REFERENCES definitions
);
COMMENT ON TABLE drafts IS 'Definitions that are still written; one that was published stays as it was then.';
COMMENT ON COLUMN drafts.revision IS 'Goes up with every change: an editor who saw another one is refused.';
COMMENT ON COLUMN drafts.copy_of IS 'The version that it began as a copy of.';

CREATE TABLE retirements (
    questionnaire text NOT NULL,
    version integer NOT NULL,
    retired_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (questionnaire, version),
    FOREIGN KEY (questionnaire, version) REFERENCES definitions
);
COMMENT ON TABLE retirements IS 'Versions that nobody begins with any more; who is under way may finish.';

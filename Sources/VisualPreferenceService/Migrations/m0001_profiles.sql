-- Why: what people chose of two pictures, and what is known of their visual preferences by it.
-- Lock: new tables only. There is no previous release.
SET LOCAL search_path = {{schema}};
CREATE TABLE visual_preference_profiles (
    person_id uuid PRIMARY KEY,
    session_id uuid NOT NULL UNIQUE,
    status text NOT NULL CHECK (status IN ('in_progress', 'deferred', 'ready', 'insufficient')),
    set_version integer NOT NULL,
    algorithm_version integer NOT NULL,
    ridge double precision NOT NULL,
    seed bigint NOT NULL,
    confidence double precision,
    attributes jsonb NOT NULL DEFAULT '[]',
    flags text[] NOT NULL DEFAULT '{}',
    new_session_at timestamptz,
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX visual_preference_profiles_by_set ON visual_preference_profiles (set_version, session_id);
COMMENT ON TABLE visual_preference_profiles IS 'A person''s newest session, and what came of it. No row: not started.';
COMMENT ON COLUMN visual_preference_profiles.seed IS 'Draws the pairs. With the set, the ridge and the algorithm it gives the same pairs in every replica.';
CREATE TABLE presentations (
    person_id uuid NOT NULL REFERENCES visual_preference_profiles (person_id) ON DELETE CASCADE,
    position integer NOT NULL,
    presentation_id uuid NOT NULL,
    left_item text NOT NULL,
    right_item text NOT NULL,
    purpose text NOT NULL CHECK (purpose IN ('informative', 'repeat', 'sure')),
    expected text CHECK (expected IN ('left', 'right', 'neither')),
    choice text CHECK (choice IN ('left', 'right', 'neither')),
    latency_ms integer,
    mutation_id uuid,
    answered_at timestamptz,
    PRIMARY KEY (person_id, position)
);
COMMENT ON TABLE presentations IS 'The pairs of the newest session, 25 at most.';

-- Why: the services of visual preferences and of verification tell profile what came of theirs, and the onboarding follows from
-- it. The previous release ignores the columns.
-- Lock: ACCESS EXCLUSIVE on profiles, catalogue only: a constant default is written to no row.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE profiles
    ADD COLUMN visual_preferences text NOT NULL DEFAULT 'not_started'
        CHECK (visual_preferences IN ('not_started', 'in_progress', 'deferred', 'ready', 'insufficient')),
    ADD COLUMN photo_verification text CHECK (photo_verification IN ('verified', 'failed', 'in_review')),
    ADD COLUMN id_verification text CHECK (id_verification IN ('verified', 'failed', 'in_review'));

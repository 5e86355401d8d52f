-- Why: the plan says how long after a deferral a person is asked for their visual preferences again.
-- Lock: ACCESS EXCLUSIVE on profiles, catalogue only.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE profiles ADD COLUMN visual_deferred_at timestamptz;
COMMENT ON COLUMN profiles.visual_deferred_at IS 'When the person last put the visual preferences off, or gave unclear answers.';

-- Why: who was here before this onboarding skips it. The previous release ignores the column.
-- Lock: ACCESS EXCLUSIVE on profiles, catalogue only.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE profiles ADD COLUMN onboarding_backfilled_at timestamptz;
COMMENT ON COLUMN profiles.onboarding_backfilled_at IS
    'When an operator set the onboarding to complete; NULL: it goes its way.';

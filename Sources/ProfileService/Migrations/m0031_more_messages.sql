-- Why: a person may make more than 16 changes while the answer of one is lost. That one was then done twice.
-- Lock: SHARE UPDATE EXCLUSIVE on profiles, catalogue only. The previous release notes 16, and reads what this one notes.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
COMMENT ON COLUMN profiles.changed_by IS
    'The messages of the changes by the person, the newest first: those of ten seconds, up to 1,024, and the last 16.';

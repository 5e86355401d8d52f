-- Why: as m0032, for the date of birth, whose history is kept in the audit trail alone: of two answers at the same time, the later one was
-- left out of the profile when it was judged first.
-- Lock: ACCESS EXCLUSIVE on profiles, catalogue only. The previous release marks nothing, so there all is as before.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE profiles ADD COLUMN date_of_birth_is_answer boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN profiles.date_of_birth_is_answer IS
    'Whether an answer to a questionnaire set the first date. Events of answers come in their order, so no time has to say which is newer.';

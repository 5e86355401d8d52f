-- Why: two answers to a question at the same time may be judged in one order and saved in the other. The later one was then taken for
-- older than the field, which the first had filled, and left out of the profile.
-- Lock: ACCESS EXCLUSIVE on profile_field_history, catalogue only. The previous release marks nothing, so there all is as before.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE profile_field_history ADD COLUMN is_answer boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN profile_field_history.is_answer IS
    'Whether an answer to a questionnaire filled the field. Events of answers come in their order, so no time has to say which is newer.';

-- Why: the comment named a case that there is not. A sign-in that sets the first number says its session, too.
-- Lock: SHARE UPDATE EXCLUSIVE on emails, catalogue only. The previous release goes on.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
COMMENT ON COLUMN emails.first_number_by IS 'The session that set the number.';

-- Why: where an app wants a phone of everybody, who proved an email address gets a link token as well, and the code to the
-- phone links both. The previous release makes no such token, and takes one for an identity that it cannot open: let it
-- end before emails are sent.
-- Lock: ACCESS EXCLUSIVE on link_tokens, catalogue only.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE link_tokens ADD COLUMN is_email boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN link_tokens.is_email IS 'Whether it is for an email address, by its lasting hash, and not for an identity.';

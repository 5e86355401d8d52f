-- Why: the comment was wider than what is stored. Auth tells a mailbox only where each spelling of its address is the same one.
-- Lock: SHARE UPDATE EXCLUSIVE on cases, catalogue only. The previous release goes on.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
COMMENT ON COLUMN cases.mailbox_reference IS
    'Auth''s reference of the claimant''s mailbox; NULL: for a number, and where another spelling may be another person.';

-- Why: the id of a case follows from its request, so nothing has to be remembered before there is a case.
-- Lock: ACCESS EXCLUSIVE on a table that this release does not read. No release that reads it was published.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
DROP TABLE requests;

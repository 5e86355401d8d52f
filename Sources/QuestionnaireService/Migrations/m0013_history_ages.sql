-- Why: what is too old is found without reading what is not. The previous release goes on.
-- Lock: SHARE on answer_history and mutations while the indexes are built; who saves an answer meanwhile is told to come again.
SET LOCAL lock_timeout = '2s';
CREATE INDEX answer_history_changed_at ON answer_history (changed_at);
CREATE INDEX mutations_at ON mutations (at);

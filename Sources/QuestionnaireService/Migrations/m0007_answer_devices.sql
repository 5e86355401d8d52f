-- Why: who is told that an answer was changed somewhere else is told on which device.
-- Lock: ACCESS EXCLUSIVE on answers and answer_history, catalogue only: no row is read or written.
-- The previous release goes on: it does not know the columns. An answer that it changes keeps the name of the device before,
-- which its next write by this release replaces.
SET LOCAL lock_timeout = '2s';

ALTER TABLE answers ADD COLUMN device text;
COMMENT ON COLUMN answers.device IS 'What the person calls the device that it was given on; NULL: that was not said.';
ALTER TABLE answer_history ADD COLUMN device text;
COMMENT ON COLUMN answer_history.device IS 'As in answers.';

-- Why: m0002 replaced the check of the states without reading the rows.
-- Lock: SHARE UPDATE EXCLUSIVE; reads and writes go on while the rows are read.
SET LOCAL lock_timeout = '2s';
ALTER TABLE answers VALIDATE CONSTRAINT answers_state_known;

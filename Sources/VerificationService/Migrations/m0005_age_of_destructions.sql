-- Why: a picture that cannot be destroyed is tried again each minute, so due_at does not say how long it has waited.
-- Lock: ACCESS EXCLUSIVE on destructions, which has few rows. The previous release goes on: the column has a default.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE destructions ADD COLUMN noted_at timestamptz NOT NULL DEFAULT clock_timestamp();
COMMENT ON COLUMN destructions.noted_at IS 'When the picture was ended; of one that was still arriving that is before due_at.';

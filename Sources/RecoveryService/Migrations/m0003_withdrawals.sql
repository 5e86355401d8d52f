-- Why: a claimant who withdraws sees the case as cancelled, also where its owner had disputed it and it stays so.
-- Lock: ACCESS EXCLUSIVE, catalogue only. The previous release leaves the column empty.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE cases ADD COLUMN withdrawn_at timestamptz;
COMMENT ON COLUMN cases.withdrawn_at IS 'When the claimant withdrew, whatever the case was by then.';

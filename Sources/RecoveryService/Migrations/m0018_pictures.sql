-- Why: both sides of a case send pictures. How many is counted here, in a decoy too, so that it has the same limits.
-- Lock: ACCESS EXCLUSIVE on cases, catalogue only, and a new table. The previous release takes no pictures.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE cases ADD COLUMN proven_until timestamptz;
COMMENT ON COLUMN cases.proven_until IS 'Until then the claimant sends pictures without another code.';
CREATE TABLE pictures (
    case_id uuid NOT NULL REFERENCES cases (id), side text NOT NULL CHECK (side IN ('claimant', 'owner')),
    uploads integer NOT NULL, day date NOT NULL, uploads_of_day integer NOT NULL, PRIMARY KEY (case_id, side)
);
COMMENT ON TABLE pictures IS 'How many pictures a side of a case was promised. They lie in verification.';
COMMENT ON COLUMN pictures.day IS 'The last day (UTC) with a promise.';
DO $$ BEGIN
    IF '{{runtime}}' NOT IN ('CURRENT_USER', current_user) THEN
        GRANT UPDATE (proven_until) ON cases TO {{runtime}};
    END IF;
END $$;

-- Why: what a claimant is shown of a case that was disputed goes on by itself (shadow), so that nothing of the dispute is
-- seen; a pair of number and account has one case that its claimant sees open; nobody waits for ever for who does not act
-- (expires_at); and the trail of a case moves to the chains of audit, in which no row can be changed unseen.
-- Lock: ACCESS EXCLUSIVE on cases and case_trail, and SHARE on cases while the index is built: some thousand rows. The
-- previous release writes to what goes here; let it end first.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE cases ADD COLUMN shadow text, ADD COLUMN seen_closed_at timestamptz, ADD COLUMN expires_at timestamptz;
COMMENT ON COLUMN cases.shadow IS 'What the claimant is shown where that is no longer the status; it moves by the same table.';
COMMENT ON COLUMN cases.seen_closed_at IS 'When the case was over as far as its claimant can tell.';
COMMENT ON COLUMN cases.expires_at IS 'When the case is over unless somebody acts; set when the hold ends.';
UPDATE cases SET seen_closed_at = CASE
    WHEN withdrawn_at IS NOT NULL THEN withdrawn_at
    WHEN status = 'disputed' AND NOT EXISTS (
        SELECT 1 FROM cases o WHERE o.account_reference = cases.account_reference
            AND o.claimant_reference = cases.claimant_reference AND o.created_at > cases.created_at) THEN NULL
    ELSE closed_at END;
UPDATE cases SET shadow = CASE
    WHEN seen_closed_at IS NOT NULL THEN 'cancelled' WHEN hold_until > clock_timestamp() THEN 'held'
    ELSE 'identity_required' END
WHERE status = 'disputed';
UPDATE cases SET expires_at = greatest(hold_until, clock_timestamp()) + interval '14 days'
WHERE coalesce(shadow, status) = 'identity_required';
DROP INDEX cases_open;
CREATE UNIQUE INDEX cases_seen_open ON cases (account_reference, claimant_reference) WHERE seen_closed_at IS NULL;
ALTER TABLE cases DROP COLUMN withdrawn_at;
SELECT audit_append('case ' || case_id, event, jsonb_build_object('at', at, 'status', status)::text)
FROM case_trail ORDER BY case_id, position;
DROP TABLE case_trail;

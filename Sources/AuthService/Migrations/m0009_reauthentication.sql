-- Why: what moves an account (identities, phone, deletion) wants a sign-in by a code within five minutes, and a session may
-- also be opened by a linked identity. The previous release leaves the column empty: its sessions count as not fresh.
-- Lock: ACCESS EXCLUSIVE on sessions, catalogue only.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE sessions ADD COLUMN otp_at timestamptz;
COMMENT ON COLUMN sessions.otp_at IS 'When a code opened it; NULL: something else did.';

-- Why: what nobody asks for any more is looked for each minute, and that must not read whole tables.
-- Lock: SHARE on both tables while the indexes are built. There is no previous release.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
CREATE INDEX sessions_revoked_at ON sessions (revoked_at) WHERE revoked_at IS NOT NULL;
CREATE INDEX refresh_tokens_session ON refresh_tokens (session_id);
CREATE INDEX refresh_tokens_answer ON refresh_tokens (replaced_at) WHERE answer_sealed IS NOT NULL;
CREATE INDEX challenge_locks_until ON challenge_locks (until);
CREATE INDEX revocations_forget_at ON revocations (forget_at);

-- Why: what moved an answer to another place removed its row, and the revisions of the old place began anew, which the history
-- refuses. Such a place gets a row back, that goes on after what the history has.
-- Lock: ROW EXCLUSIVE on answers; sessions that are written to meanwhile are not waited for.
-- The previous release goes on: it takes the rows for answers that were taken back.
SET LOCAL lock_timeout = '2s';

INSERT INTO answers (person_id, session_id, question, revision, state, changed_at)
SELECT person_id, session_id, question, max(revision) + 1, 'unanswered', max(changed_at)
FROM answer_history h
WHERE NOT EXISTS (
    SELECT 1 FROM answers a
    WHERE a.person_id = h.person_id AND a.session_id = h.session_id AND a.question = h.question)
GROUP BY person_id, session_id, question
ON CONFLICT DO NOTHING;

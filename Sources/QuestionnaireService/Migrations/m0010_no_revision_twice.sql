-- Why: what moved an answer to another place removed its row, and the revisions of the old place began anew, which the history
-- refuses. Such a place gets a row back, and every row goes on after what the history has.
-- Lock: ROW EXCLUSIVE on answers. Of the sessions of those places it waits two seconds for whoever writes, then the start is
-- tried again; who writes to one of them meanwhile is told to come again.
-- The previous release goes on: it takes the rows for answers that were taken back. A session that it moves meanwhile is as before.
SET LOCAL lock_timeout = '2s';

INSERT INTO answers (person_id, session_id, question, revision, state, changed_at)
SELECT person_id, session_id, question, max(revision) + 1, 'unanswered', max(changed_at)
FROM answer_history h
WHERE NOT EXISTS (
    SELECT 1 FROM answers a
    WHERE a.person_id = h.person_id AND a.session_id = h.session_id AND a.question = h.question)
GROUP BY person_id, session_id, question
ON CONFLICT DO NOTHING;

UPDATE answers a SET revision = h.newest + 1
FROM (
    SELECT person_id, session_id, question, max(revision) AS newest FROM answer_history
    GROUP BY person_id, session_id, question
) AS h
WHERE (a.person_id, a.session_id, a.question) = (h.person_id, h.session_id, h.question) AND a.revision < h.newest;

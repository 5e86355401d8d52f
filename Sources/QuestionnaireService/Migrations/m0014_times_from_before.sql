-- Why: the statistics go on with the sessions that they look at: the newest 5,000 of each version. What each first answer took is
-- taken from the history. The previous release goes on.
-- Lock: ROW EXCLUSIVE on answers; who changes one of these answers meanwhile is told to come again.
UPDATE answers a SET took = extract(epoch FROM h.changed_at - h.since)
FROM (
    SELECT t.person_id, t.session_id, t.question, t.revision, t.changed_at, coalesce(
        lag(t.changed_at) OVER (PARTITION BY t.person_id, t.session_id ORDER BY t.changed_at, t.question), s.opened_at) AS since
    FROM (
        SELECT person_id, session_id, opened_at,
            row_number() OVER (PARTITION BY questionnaire, version ORDER BY opened_at DESC, session_id DESC) AS place
        FROM sessions) AS s
    JOIN answer_history t USING (person_id, session_id) WHERE s.place <= 5000
) AS h
WHERE h.revision = 1 AND a.took IS NULL
    AND (a.person_id, a.session_id, a.question) = (h.person_id, h.session_id, h.question);

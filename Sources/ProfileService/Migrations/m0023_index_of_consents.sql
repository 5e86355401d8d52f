-- Why: the index of the key that m0024 gives to consents. It is built while everything is read.
-- Lock: SHARE on consents while the index is built, so that no text is accepted meanwhile.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
CREATE UNIQUE INDEX consents_by_plan ON consents (person_id, plan, document, version);

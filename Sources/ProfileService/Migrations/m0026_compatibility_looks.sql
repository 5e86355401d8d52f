-- Why: who changes answers and looks again, or looks at many people, would learn what others answered. So a pair keeps its figure
-- for a month whatever either of them changes, and a person looks at so many others a day.
-- Lock: new tables only; SHARE ROW EXCLUSIVE on profiles for the references, catalogue only.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
CREATE TABLE compatibility_looks (
    person_id uuid NOT NULL REFERENCES profiles (person_id) ON DELETE CASCADE,
    questionnaire text NOT NULL,
    other_id uuid NOT NULL REFERENCES profiles (person_id) ON DELETE CASCADE,
    figure jsonb NOT NULL,
    made_on date NOT NULL,
    looked_on date NOT NULL,
    PRIMARY KEY (person_id, questionnaire, other_id)
);
CREATE INDEX compatibility_looks_by_other ON compatibility_looks (other_id);
CREATE INDEX compatibility_looks_by_day ON compatibility_looks (made_on);
COMMENT ON TABLE compatibility_looks IS 'With whom a person has compared themselves, and what they were told. Kept for 30 days.';
COMMENT ON COLUMN compatibility_looks.made_on IS 'When the figure of the pair was made, for whichever of the two (UTC).';
COMMENT ON COLUMN compatibility_looks.looked_on IS 'When the person looked first. It counts for that day (UTC).';

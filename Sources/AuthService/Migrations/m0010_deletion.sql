-- Why: a deletion finds the freezes of its person, ended ones too, without reading all. The previous release ignores it.
-- Lock: SHARE on freezes while the index is built; a row for each recovery case.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
CREATE INDEX freezes_all_of_person ON freezes (person_id);

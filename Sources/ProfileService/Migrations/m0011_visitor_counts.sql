-- Why: a client may make up a visitor for each request; new ones are limited by address and by day, and this is what was
-- counted of them. The previous release neither reads nor writes it: its visitors are not counted.
-- Lock: a new table only.
SET LOCAL search_path = {{schema}};
CREATE TABLE visitor_counts (
    key bytea NOT NULL,
    began timestamptz NOT NULL,
    taken bigint NOT NULL,
    PRIMARY KEY (key, began)
);
CREATE INDEX visitor_counts_began ON visitor_counts (began);
COMMENT ON TABLE visitor_counts IS 'New visitors in an hour of an address, and in a day of the deployment.';
COMMENT ON COLUMN visitor_counts.key IS 'A keyed hash of the address; of the day one byte, so that 16 rows share the writes.';

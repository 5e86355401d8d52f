-- Why: the codes that leave in an hour are counted, in all and for each country, so that a flood has a price that it does not
-- pass. A scope is spread over shards, so that sends do not wait for one row. The previous release counts nothing here.
-- Lock: a new table only.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
CREATE TABLE sms_budget (
    scope text NOT NULL, hour timestamptz NOT NULL, shard smallint NOT NULL, used integer NOT NULL,
    PRIMARY KEY (scope, hour, shard)
) WITH (fillfactor = 50);
COMMENT ON TABLE sms_budget IS 'Codes that left in an hour of the clock. Scope: a country (ISO 3166-1), or empty for all.';

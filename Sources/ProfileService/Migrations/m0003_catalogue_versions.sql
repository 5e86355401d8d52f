-- Why: an answer that a newer catalogue does not take any more is found once per version, and not at each read; and
-- coordinates are kept to about a kilometre, those that stand from before too.
-- Lock: ACCESS EXCLUSIVE on profiles for the column, catalogue only; then the rows with coordinates, once. The previous
-- release leaves the column alone: what it writes is reviewed again.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE profiles ADD COLUMN catalogue_version bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN profiles.catalogue_version IS 'Of the catalogue that judged its answers; 0: from before it was noted.';
CREATE INDEX ON profiles (catalogue_version);
UPDATE profile_field_history SET value = jsonb_build_object(
        'latitude', round((value ->> 'latitude')::numeric, 2), 'longitude', round((value ->> 'longitude')::numeric, 2))
    WHERE key = 'coordinates' AND value IS NOT NULL;
UPDATE profiles SET fields = jsonb_set(fields, '{coordinates,value}', jsonb_build_object(
        'latitude', round((fields #>> '{coordinates,value,latitude}')::numeric, 2),
        'longitude', round((fields #>> '{coordinates,value,longitude}')::numeric, 2)))
    WHERE fields #> '{coordinates,value}' IS NOT NULL;

-- Why: verification keeps people's photos. Profile knows where the first one is, and signs its address.
-- Lock: ACCESS EXCLUSIVE on profiles, catalogue only.
SET LOCAL lock_timeout = '2s';
SET LOCAL search_path = {{schema}};
ALTER TABLE profiles ADD COLUMN photo_address text, ADD COLUMN photo_key_sealed bytea;
COMMENT ON COLUMN profiles.photo_address IS 'Where the photo is that stands for the person, without its query; NULL if there is none.';
COMMENT ON COLUMN profiles.photo_key_sealed IS 'What signs that address and no other, sealed.';

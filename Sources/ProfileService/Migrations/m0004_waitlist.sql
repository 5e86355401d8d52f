-- Why: who is too young may ask to be told on the 18th birthday, once. A row has no date of its own: with the person's id it
-- would tell the date of birth.
-- Lock: new tables only. The previous release does not know them.
SET LOCAL search_path = {{schema}};
CREATE TABLE waitlist (person_id uuid PRIMARY KEY REFERENCES profiles (person_id) ON DELETE CASCADE);
CREATE TABLE waitlist_days (day date PRIMARY KEY);
COMMENT ON TABLE waitlist_days IS 'On which days those who wait were looked through; a week of them.';

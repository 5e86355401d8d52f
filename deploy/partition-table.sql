-- Splits a table into hash partitions by the first column of its primary key, while its service goes on. docs/operations/scale.md says
-- when, and how.
--
--     psql --no-psqlrc -v table=questionnaire.answers -v partitions=4 -f partition-table.sql
--
-- 1. A trigger repeats each change in a partitioned table, which lies in a schema of its own: questionnaire_answers_split.
-- 2. The rows are copied, 1,000 in each transaction, with a pause after each for as long as it took.
-- 3. Both tables are compared in one snapshot.
-- 4. In one transaction the partitioned table takes the place of the other one, with its name, rights and triggers.
--
-- The first and the last step lock the table and those that its foreign keys name. A service waits 200 ms for a lock, and these steps
-- wait for less: they try again each second for ten minutes (-v pause=SECONDS). If it ends early, run it again: it goes on.
-- It needs the role of the table's owner or a superuser.
\set ON_ERROR_STOP on
\set QUIET on
SELECT format('SET ROLE %I', pg_get_userbyid(relowner)) FROM pg_class WHERE oid = :'table'::regclass \gexec
-- Nothing else is searched, so PostgreSQL writes every name with its schema.
SET search_path = pg_catalog;
SET statement_timeout = 0;
\if :{?pause} \else \set pause 1 \endif
SELECT set_config('split.table', :'table', false), set_config('split.partitions', :'partitions', false),
    set_config('split.pause', :'pause', false) \g /dev/null

DO $$
DECLARE
    source CONSTANT regclass := current_setting('split.table');
    partitions CONSTANT integer := current_setting('split.partitions');
    place record;
    split text;
    target text;
    key text;
    same text;
    columns text;
    values text;
    locked text;
    change text;
    is_locked boolean := false;
    last_try CONSTANT timestamptz := clock_timestamp() + interval '10 minutes';
BEGIN
    SELECT nspname AS schema, relname AS name, relkind AS kind, ' WITH (' || array_to_string(reloptions, ', ') || ')' AS options
    INTO place FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE c.oid = source;
    split := quote_ident(place.schema || '_' || place.name || '_split');
    target := split || '.' || quote_ident(place.name);
    IF to_regclass(target) IS NOT NULL THEN
        IF partitions <> (SELECT count(*) FROM pg_partition_tree(target::regclass) WHERE isleaf) THEN
            RAISE EXCEPTION '% is being split into another number of partitions', source;
        END IF;
        RETURN;
    END IF;
    IF place.kind <> 'r' THEN RAISE EXCEPTION '% has partitions already', source; END IF;
    IF partitions NOT BETWEEN 2 AND 64 THEN RAISE EXCEPTION 'there can be 2 to 64 partitions'; END IF;
    IF EXISTS (SELECT FROM pg_constraint WHERE confrelid = source) THEN
        RAISE EXCEPTION '% cannot be split: a foreign key of another table refers to it', source;
    END IF;
    IF EXISTS (SELECT FROM pg_depend d JOIN pg_class s ON s.oid = objid AND relkind = 'S' WHERE refobjid = source) THEN
        RAISE EXCEPTION '% cannot be split: a sequence numbers its rows', source;
    END IF;
    -- These would be lost, or would stop the last step.
    IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = source AND (attacl IS NOT NULL OR attgenerated <> ''))
        OR EXISTS (SELECT FROM pg_constraint WHERE conrelid = source AND contype = 'x')
        OR EXISTS (SELECT FROM pg_class WHERE oid = source AND relrowsecurity)
        OR EXISTS (SELECT FROM pg_trigger WHERE tgrelid = source AND NOT tgisinternal AND tgenabled <> 'O')
        OR EXISTS (SELECT FROM pg_depend WHERE refobjid = source AND classid = 'pg_rewrite'::regclass) THEN
        RAISE EXCEPTION '% cannot be split: it has rights on columns, a generated column, an exclusion, row security, a disabled trigger or a view',
            source;
    END IF;

    SELECT quote_ident(min(attname::text) FILTER (WHERE attnum = indkey[0])),
        format('(%s) = (%s)', string_agg(quote_ident(attname), ', '), string_agg('OLD.' || quote_ident(attname), ', '))
    INTO STRICT key, same
    FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY (indkey) WHERE indrelid = source AND indisprimary;
    SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum), string_agg('NEW.' || quote_ident(attname), ', ' ORDER BY attnum)
    INTO columns, values FROM pg_attribute WHERE attrelid = source AND attnum > 0 AND NOT attisdropped;
    SELECT concat(string_agg(DISTINCT confrelid::regclass || ', ', ''), source) INTO locked
    FROM pg_constraint WHERE conrelid = source AND contype = 'f';
    EXECUTE format('CREATE SCHEMA %s', split);
    EXECUTE format('CREATE TABLE %s (LIKE %s INCLUDING ALL EXCLUDING INDEXES) PARTITION BY HASH (%s)', target, source, key);
    EXECUTE format('COMMENT ON TABLE %s IS %L', target, obj_description(source, 'pg_class'));
    FOR number IN 0..partitions - 1 LOOP
        EXECUTE format('CREATE TABLE %s.%I PARTITION OF %s FOR VALUES WITH (MODULUS %s, REMAINDER %s)%s',
            split, place.name || '_' || number, target, partitions, number, place.options);
    END LOOP;
    -- Keys and other indexes keep their names.
    FOR change IN
        SELECT format('ALTER TABLE %s ADD CONSTRAINT %I %s', target, conname, pg_get_constraintdef(oid))
        FROM pg_constraint WHERE conrelid = source AND contype IN ('p', 'u')
        UNION ALL
        SELECT replace(pg_get_indexdef(indexrelid), format(' ON %s USING ', source), format(' ON %s USING ', target))
        FROM pg_index WHERE indrelid = source AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
    LOOP
        EXECUTE change;
    END LOOP;
    EXECUTE format($f$
        CREATE FUNCTION %s.repeat_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
        BEGIN
            IF TG_OP <> 'INSERT' THEN DELETE FROM %s WHERE %s; END IF;
            IF TG_OP <> 'DELETE' THEN INSERT INTO %2$s (%4$s) VALUES (%5$s); END IF;
            RETURN NULL;
        END $body$
        $f$, split, target, same, columns, values);
    WHILE NOT is_locked LOOP
        BEGIN
            -- After a second PostgreSQL cancels an autovacuum that is waited for, but not one that prevents wraparound. Nobody
            -- waits for this lock.
            SET LOCAL lock_timeout = '2s';
            EXECUTE format('LOCK TABLE %s IN SHARE UPDATE EXCLUSIVE MODE', locked);
            SET LOCAL lock_timeout = '100ms';
            EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', locked);
            is_locked := true;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            IF clock_timestamp() > last_try THEN RAISE; END IF;
            PERFORM pg_sleep(current_setting('split.pause')::double precision);
        END;
    END LOOP;
    FOR change IN
        SELECT format('ALTER TABLE %s ADD CONSTRAINT %I %s', target, conname, pg_get_constraintdef(oid))
        FROM pg_constraint WHERE conrelid = source AND contype = 'f'
        UNION ALL SELECT format(
            'CREATE TRIGGER split AFTER INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION %s.repeat_change()', source, split)
    LOOP
        EXECUTE change;
    END LOOP;
    -- The last step compares this: a migration meanwhile may have changed the table.
    EXECUTE format('SELECT md5(string_agg(name, '','' ORDER BY name)) FROM %I.schema_migrations', place.schema) INTO change;
    EXECUTE format('COMMENT ON SCHEMA %s IS %L', split, change);
END $$;

DO $$
DECLARE
    source CONSTANT regclass := current_setting('split.table');
    target CONSTANT text := (SELECT format('%I.%I', nspname || '_' || relname || '_split', relname)
        FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE c.oid = source);
    began timestamptz;
    told timestamptz := clock_timestamp();
    in_batch bigint;
    in_all bigint := 0;
    columns text;
    keys text;
    literals text;
    last text;
    is_same boolean;
BEGIN
    SELECT string_agg(quote_ident(attname), ', ' ORDER BY place),
        string_agg(format('quote_literal(%I)', attname), ' || '', '' || ' ORDER BY place)
    INTO keys, literals
    FROM pg_index, unnest(indkey) WITH ORDINALITY AS k (number, place), pg_attribute
    WHERE indrelid = source AND indisprimary AND attrelid = source AND attnum = number;
    SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) INTO columns
    FROM pg_attribute WHERE attrelid = target::regclass AND attnum > 0;
    LOOP
        began := clock_timestamp();
        BEGIN
            -- A service waits for 200 ms. This waits for less, so it is what gives way.
            SET LOCAL lock_timeout = '100ms';
            -- A crash may lose the last batches. What comes after them is then lost, too.
            SET LOCAL synchronous_commit = off;
            -- FOR SHARE: nobody changes or deletes a row while it is copied. A change before that was repeated by the trigger.
            EXECUTE format(
                'WITH batch AS MATERIALIZED (SELECT * FROM %s %s ORDER BY %s LIMIT 1000 FOR SHARE),
                    copied AS (INSERT INTO %s (%s) SELECT %5$s FROM batch ON CONFLICT DO NOTHING)
                SELECT (SELECT %s FROM batch ORDER BY ROW(%3$s) DESC LIMIT 1), (SELECT count(*) FROM batch)',
                source, 'WHERE ROW(' || keys || ') > ROW(' || last || ')', keys, target, columns, literals)
            INTO last, in_batch;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            in_batch := NULL;
        END;
        COMMIT;
        EXIT WHEN in_batch = 0;
        in_all := in_all + coalesce(in_batch, 0);
        IF clock_timestamp() > told + interval '10 seconds' THEN
            told := clock_timestamp();
            RAISE NOTICE '% rows of % were copied so far', in_all, source;
        END IF;
        PERFORM pg_sleep(extract(epoch FROM clock_timestamp() - began));
    END LOOP;
    EXECUTE format(
        'SELECT (SELECT ROW(count(*), sum(hashtextextended(r::text, 0))) FROM %s AS r)
            IS NOT DISTINCT FROM (SELECT ROW(count(*), sum(hashtextextended(r::text, 0))) FROM %s AS r)', source, target)
    INTO is_same;
    IF NOT is_same THEN
        RAISE EXCEPTION '% and % differ', source, target USING HINT = 'Give up, as docs/operations/scale.md says, and begin again.';
    END IF;
    COMMIT;
    EXECUTE format('ANALYZE %s', target);
END $$;

DO $$
DECLARE
    source CONSTANT regclass := current_setting('split.table');
    place record;
    split text;
    target text;
    locked text;
    migrated text;
    steps text[];
    step text;
    last_try CONSTANT timestamptz := clock_timestamp() + interval '10 minutes';
BEGIN
    SELECT nspname AS schema, relname AS name INTO place FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE c.oid = source;
    split := quote_ident(place.schema || '_' || place.name || '_split');
    target := split || '.' || quote_ident(place.name);
    -- Services write to what is referred to first. To drop a foreign key, PostgreSQL locks both tables.
    SELECT concat(string_agg(DISTINCT confrelid::regclass || ', ', ''), source) INTO locked
    FROM pg_constraint WHERE conrelid = source AND contype = 'f';
    SELECT array_agg(change ORDER BY number) INTO steps FROM (
        SELECT 1, format('DROP TABLE %s', source)
        UNION ALL SELECT 2, format('ALTER TABLE %s SET SCHEMA %I', relid, place.schema) FROM pg_partition_tree(target::regclass)
        -- On a partition nobody but the owner has rights: services reach it by the table.
        UNION ALL SELECT 3, format('GRANT %s ON %s TO %s', privilege_type, source, coalesce(quote_ident(rolname), 'PUBLIC'))
        FROM pg_class c, aclexplode(relacl) LEFT JOIN pg_roles r ON r.oid = grantee WHERE c.oid = source AND grantee <> relowner
        UNION ALL SELECT 4, pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = source AND NOT tgisinternal AND tgname <> 'split'
        UNION ALL SELECT 5, format('DROP SCHEMA %s CASCADE', split)
    ) AS s (number, change);
    LOOP
        BEGIN
            -- As above.
            SET LOCAL lock_timeout = '2s';
            EXECUTE format('LOCK TABLE %s IN SHARE UPDATE EXCLUSIVE MODE', locked);
            SET LOCAL lock_timeout = '100ms';
            EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', locked);
            EXECUTE format('SELECT md5(string_agg(name, '','' ORDER BY name)) FROM %I.schema_migrations', place.schema) INTO migrated;
            IF migrated <> obj_description(split::regnamespace, 'pg_namespace') THEN
                RAISE EXCEPTION 'the service was upgraded since % was begun', split
                    USING HINT = 'Give up, as docs/operations/scale.md says, and begin again.';
            END IF;
            FOREACH step IN ARRAY steps LOOP EXECUTE step; END LOOP;
            EXIT;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            IF clock_timestamp() > last_try THEN RAISE; END IF;
        END;
        COMMIT;
        PERFORM pg_sleep(current_setting('split.pause')::double precision);
    END LOOP;
END $$;

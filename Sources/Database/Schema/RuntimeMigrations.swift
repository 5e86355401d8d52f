/// The tables that every service has besides its own: stored answers, messages to deliver, accepted events.
enum RuntimeMigrations {
    static let all = [
        Migration(
            name: "m0000_runtime",
            sql: """
                -- Why: effect, inbox and outbox are one transaction; the relay and the timers live from these tables.
                SET LOCAL search_path = {{schema}};
                CREATE TABLE inbox (
                    key bytea PRIMARY KEY,
                    request_digest bytea NOT NULL,
                    reply bytea,
                    is_refusal boolean NOT NULL DEFAULT false,
                    reply_until timestamptz,
                    expires_at timestamptz NOT NULL
                );
                CREATE INDEX inbox_expires_at ON inbox (expires_at);
                COMMENT ON TABLE inbox IS 'One row per request with an idempotency key; the reply is sealed.';
                CREATE TABLE outbox (
                    id uuid PRIMARY KEY,
                    destination text NOT NULL,
                    message_type text,
                    message_version integer NOT NULL DEFAULT 1,
                    person_id uuid,
                    person_sequence bigint,
                    payload bytea NOT NULL,
                    attempts integer NOT NULL DEFAULT 0,
                    due_at timestamptz NOT NULL,
                    locked_until timestamptz,
                    dead_at timestamptz,
                    created_at timestamptz NOT NULL DEFAULT now()
                );
                CREATE INDEX outbox_due_at ON outbox (due_at) WHERE dead_at IS NULL;
                CREATE UNIQUE INDEX outbox_order ON outbox (destination, person_id, person_sequence);
                COMMENT ON TABLE outbox IS 'Messages and timers to deliver; the payload is sealed; a delivered row is deleted.';
                CREATE TABLE outbox_sequences (person_id uuid PRIMARY KEY, last bigint NOT NULL);
                COMMENT ON TABLE outbox_sequences IS 'Events told about a person, counted.';
                CREATE TABLE event_positions (
                    producer text NOT NULL, person_id uuid NOT NULL, last bigint NOT NULL, PRIMARY KEY (producer, person_id)
                );
                COMMENT ON TABLE event_positions IS 'The last event taken in from a producer about a person.';
                """),
        Migration(
            name: "m0000_runtime_reply_until",
            sql: """
                -- Why: replies are erased when their time is over, and that must not read the whole table.
                -- Lock: SHARE on inbox while the index is built; its rows are a day old at the most.
                SET LOCAL lock_timeout = '2s';
                SET LOCAL search_path = {{schema}};
                CREATE INDEX inbox_reply_until ON inbox (reply_until) WHERE reply IS NOT NULL;
                """),
        Migration(
            name: "m0000_runtime_dead_letters",
            sql: """
                -- Why: an operator sees what an item was given up for. The previous release leaves the column empty.
                -- Lock: ACCESS EXCLUSIVE, catalogue only, then while the index is built over what stands undelivered.
                SET LOCAL lock_timeout = '2s';
                SET LOCAL search_path = {{schema}};
                ALTER TABLE outbox ADD COLUMN last_error text;
                COMMENT ON COLUMN outbox.last_error IS 'The code of what the last attempt failed with.';
                CREATE INDEX outbox_dead_at ON outbox (dead_at) WHERE dead_at IS NOT NULL;
                """),
        Migration(
            name: "m0000_runtime_key_marks",
            sql: """
                -- Why: a service that is started with another system's keys says so, and does not fail at each row.
                SET LOCAL search_path = {{schema}};
                CREATE TABLE key_marks (id text PRIMARY KEY, mark bytea NOT NULL);
                COMMENT ON TABLE key_marks IS 'A mark of each key that wrote here, which tells another key of the same id.';
                """),
        Migration(
            name: "m0000_runtime_audit",
            sql: """
                -- Why: what happened to the security of accounts, in chains in which no row can be changed unseen. The
                -- previous release writes no acts.
                -- Lock: new tables only.
                SET LOCAL search_path = {{schema}};
                CREATE TABLE pseudonyms (person_id uuid PRIMARY KEY, key_sealed bytea NOT NULL);
                COMMENT ON TABLE pseudonyms IS 'The key that makes a person''s name in audit; it dies with the account.';
                CREATE TABLE audit (
                    chain text COLLATE "C" NOT NULL,
                    sequence bigint NOT NULL,
                    act text NOT NULL,
                    at timestamptz NOT NULL,
                    details text NOT NULL,
                    hash bytea NOT NULL,
                    PRIMARY KEY (chain, sequence)
                );
                COMMENT ON TABLE audit IS 'Acts by pseudonym, or of nobody in the chain service; each has the hash of the one before.';
                CREATE TABLE audit_heads (
                    chain text COLLATE "C" PRIMARY KEY,
                    sequence bigint NOT NULL,
                    hash bytea NOT NULL,
                    is_anchored boolean NOT NULL DEFAULT false
                );
                CREATE INDEX audit_heads_open ON audit_heads (chain) WHERE NOT is_anchored;
                COMMENT ON TABLE audit_heads IS 'The end of each chain: who adds a row waits here for who does so already.';
                CREATE TABLE audit_anchors (
                    run bigint NOT NULL,
                    chain text COLLATE "C" NOT NULL,
                    sequence bigint NOT NULL,
                    hash bytea NOT NULL,
                    PRIMARY KEY (run, chain)
                );
                CREATE TABLE audit_anchor_runs (
                    run bigint PRIMARY KEY, at timestamptz NOT NULL, key_id text NOT NULL, code bytea NOT NULL
                );
                COMMENT ON TABLE audit_anchor_runs IS 'Of each run a code over its anchors and the run before, under the key ring.';
                CREATE FUNCTION audit_append(in_chain text, in_act text, in_details text) RETURNS bigint
                LANGUAGE plpgsql SECURITY DEFINER SET search_path = {{schema}}, pg_temp AS $$
                DECLARE
                    moment CONSTANT timestamptz := clock_timestamp();
                    rest CONSTANT bytea := int8send((extract(epoch FROM moment) * 1000000)::bigint)
                        || convert_to(in_chain || E'\\n' || in_act || E'\\n' || in_details, 'UTF8');
                    place bigint;
                BEGIN
                    WITH head AS (
                        INSERT INTO audit_heads AS h (chain, sequence, hash)
                        VALUES (in_chain, 1, sha256(int8send(1) || rest))
                        ON CONFLICT (chain) DO UPDATE SET sequence = h.sequence + 1,
                            hash = sha256(h.hash || int8send(h.sequence + 1) || rest), is_anchored = false
                        RETURNING h.sequence, h.hash
                    )
                    INSERT INTO audit (chain, sequence, act, at, details, hash)
                    SELECT in_chain, head.sequence, in_act, moment, in_details, head.hash FROM head
                    RETURNING sequence INTO place;
                    RETURN place;
                END $$;
                CREATE FUNCTION audit_anchor(in_run bigint, most bigint)
                RETURNS TABLE (chain text, sequence bigint, hash bytea)
                LANGUAGE plpgsql SECURITY DEFINER SET search_path = {{schema}}, pg_temp AS $$
                #variable_conflict use_column
                BEGIN
                    RETURN QUERY WITH ended AS (
                        UPDATE audit_heads h SET is_anchored = true WHERE h.chain IN (
                            SELECT o.chain FROM audit_heads o WHERE NOT o.is_anchored
                            ORDER BY o.chain LIMIT most FOR UPDATE SKIP LOCKED)
                        RETURNING h.chain, h.sequence, h.hash
                    ), kept AS (
                        INSERT INTO audit_anchors (run, chain, sequence, hash)
                        SELECT in_run, e.chain, e.sequence, e.hash FROM ended e
                    )
                    SELECT e.chain, e.sequence, e.hash FROM ended e;
                END $$;
                CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    RAISE EXCEPTION 'rows of % are never changed or removed', TG_TABLE_NAME USING ERRCODE = '42501';
                END $$;
                -- Also where the service runs as the owner of its tables, who could do everything else.
                CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit EXECUTE FUNCTION audit_refuse();
                CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_anchors
                    EXECUTE FUNCTION audit_refuse();
                CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_anchor_runs
                    EXECUTE FUNCTION audit_refuse();
                REVOKE ALL ON FUNCTION audit_append(text, text, text), audit_anchor(bigint, bigint) FROM PUBLIC;
                GRANT EXECUTE ON FUNCTION audit_append(text, text, text), audit_anchor(bigint, bigint) TO {{runtime}};
                DO $$ BEGIN
                    IF '{{runtime}}' NOT IN ('CURRENT_USER', current_user) THEN
                        REVOKE INSERT, UPDATE, DELETE ON audit, audit_heads, audit_anchors FROM {{runtime}};
                        REVOKE UPDATE, DELETE ON audit_anchor_runs FROM {{runtime}};
                    END IF;
                END $$;
                """),
        Migration(
            name: "m0000_runtime_erased",
            sql: """
                -- Why: whoever was deleted stays so, whatever comes late; and their rows are found without reading tables.
                -- Lock: SHARE on event_positions while the index is built. The previous release knows no deletion.
                SET LOCAL lock_timeout = '2s';
                SET LOCAL search_path = {{schema}};
                CREATE TABLE erased (digest bytea PRIMARY KEY, at timestamptz NOT NULL DEFAULT now());
                COMMENT ON TABLE erased IS 'The SHA-256 of the id of each person who was deleted.';
                CREATE FUNCTION is_erased(person uuid) RETURNS boolean LANGUAGE sql STABLE
                AS 'SELECT EXISTS (SELECT FROM erased WHERE digest = sha256(uuid_send(person)))';
                CREATE INDEX event_positions_person ON event_positions (person_id);
                """),
        Migration(
            name: "m0000_runtime_clock_marks",
            sql: """
                -- Why: a restart must not make a jump of the clock the truth, and end what it holds. The previous release
                -- does not look.
                -- Lock: a new table only.
                SET LOCAL lock_timeout = '2s';
                SET LOCAL search_path = {{schema}};
                CREATE TABLE clock_marks (
                    boot text PRIMARY KEY, clock_offset bigint NOT NULL, at timestamptz NOT NULL DEFAULT now()
                );
                COMMENT ON TABLE clock_marks IS
                    'By how many microseconds this clock is ahead of that of a machine since its boot, by the boot''s id.';
                """),
        Migration(
            name: "m0000_runtime_anchor_runs",
            sql: """
                -- Why: the service's role could anchor chains in a run that nobody made, after which their rows were in none. Now
                -- a transaction that anchors makes the next run, or fails. The previous release does just that.
                -- Lock: SHARE ROW EXCLUSIVE on the tables of anchors, catalogue only: audit verify finds what stands from before.
                SET LOCAL lock_timeout = '2s';
                SET LOCAL search_path = {{schema}};
                ALTER TABLE audit_anchors ADD CONSTRAINT audit_anchors_run FOREIGN KEY (run)
                    REFERENCES audit_anchor_runs (run) DEFERRABLE INITIALLY DEFERRED NOT VALID;
                CREATE FUNCTION audit_next_run() RETURNS bigint LANGUAGE sql SET search_path = {{schema}}, pg_temp
                -- A number that JSON does not keep is none of ours.
                AS 'SELECT coalesce(max(run), 0) + 1 FROM audit_anchor_runs WHERE run < 9007199254740991';
                CREATE OR REPLACE FUNCTION audit_anchor(in_run bigint, most bigint)
                RETURNS TABLE (chain text, sequence bigint, hash bytea)
                LANGUAGE plpgsql SECURITY DEFINER SET search_path = {{schema}}, pg_temp AS $$
                #variable_conflict use_column
                BEGIN
                    PERFORM pg_advisory_xact_lock(hashtextextended('{{schema}}/audit-anchors/', 0));
                    IF in_run IS DISTINCT FROM audit_next_run() THEN
                        RAISE EXCEPTION 'only the next run is anchored' USING ERRCODE = '23514';
                    END IF;
                    RETURN QUERY WITH ended AS (
                        UPDATE audit_heads h SET is_anchored = true WHERE h.chain IN (
                            SELECT o.chain FROM audit_heads o WHERE NOT o.is_anchored
                            ORDER BY o.chain LIMIT most FOR UPDATE SKIP LOCKED)
                        RETURNING h.chain, h.sequence, h.hash
                    ), kept AS (
                        INSERT INTO audit_anchors (run, chain, sequence, hash)
                        SELECT in_run, e.chain, e.sequence, e.hash FROM ended e
                    )
                    SELECT e.chain, e.sequence, e.hash FROM ended e;
                END $$;
                CREATE FUNCTION audit_check_run() RETURNS trigger
                LANGUAGE plpgsql SET search_path = {{schema}}, pg_temp AS $$
                BEGIN
                    IF NEW.run IS DISTINCT FROM audit_next_run()
                        OR NOT EXISTS (SELECT FROM audit_anchors n WHERE n.run = NEW.run)
                        OR NEW.at NOT BETWEEN clock_timestamp() - interval '1 minute' AND clock_timestamp()
                    THEN
                        RAISE EXCEPTION 'a run is the next one, of now, and has anchors' USING ERRCODE = '23514';
                    END IF;
                    RETURN NEW;
                END $$;
                CREATE TRIGGER next_only BEFORE INSERT ON audit_anchor_runs
                    FOR EACH ROW EXECUTE FUNCTION audit_check_run();
                """),
        Migration(
            name: "m0000_runtime_delivered",
            sql: """
                -- Why: a receiver whose database fell back to an earlier moment gets the events again that it lost. The previous
                -- release keeps none, and accepts events as before.
                -- Lock: new tables only.
                SET LOCAL lock_timeout = '2s';
                SET LOCAL search_path = {{schema}};
                CREATE TABLE outbox_delivered (
                    id uuid PRIMARY KEY,
                    destination text NOT NULL,
                    message_type text NOT NULL,
                    message_version integer NOT NULL,
                    person_id uuid,
                    person_sequence bigint NOT NULL,
                    payload bytea NOT NULL,
                    delivered_at timestamptz NOT NULL DEFAULT clock_timestamp()
                );
                CREATE INDEX outbox_delivered_at ON outbox_delivered (delivered_at);
                CREATE INDEX outbox_delivered_person ON outbox_delivered (person_id);
                COMMENT ON COLUMN outbox_delivered.person_id IS 'Missing for a deleted person, who has no other event.';
                COMMENT ON TABLE outbox_delivered IS 'Events that receivers in other clusters have taken of late; the payload is sealed.';
                CREATE TABLE event_receivers (
                    receiver text PRIMARY KEY, epoch text NOT NULL, at timestamptz NOT NULL
                );
                COMMENT ON TABLE event_receivers IS 'The epoch of a receiver''s database in another cluster, and when it was so.';
                CREATE TABLE event_producers (
                    producer text PRIMARY KEY, epoch text NOT NULL, run text NOT NULL, at timestamptz NOT NULL
                );
                COMMENT ON TABLE event_producers IS 'The epoch of this database that a producer knew of, and when.';
                CREATE FUNCTION database_run() RETURNS text LANGUAGE sql STABLE AS $$
                    SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8) || '/' || '{{schema}}'::regnamespace::oid
                        || '/' || extract(epoch FROM pg_postmaster_start_time())
                $$;
                COMMENT ON FUNCTION database_run IS 'What stays while a server runs on one timeline, known without reading a file.';
                CREATE FUNCTION database_epoch() RETURNS text LANGUAGE sql STABLE AS $$
                    SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8) || '/' || '{{schema}}'::regnamespace::oid
                        || '/' || system_identifier FROM pg_control_system()
                $$;
                COMMENT ON FUNCTION database_epoch IS
                    'Timeline, schema and cluster. If it is another one, the data may be those of an earlier moment.';
                """),
        Migration(
            name: "m0000_runtime_event_runs",
            sql: """
                -- Why: after a restore, numbers of lost events must not come again. The previous release goes on by one from a
                -- person's last number, whatever it is.
                -- Lock: SHARE UPDATE EXCLUSIVE on outbox_sequences for its comment, which holds up no write; otherwise a new table.
                SET LOCAL lock_timeout = '2s';
                SET LOCAL search_path = {{schema}};
                CREATE TABLE event_runs (run text NOT NULL, first bigint NOT NULL);
                CREATE INDEX event_runs_run ON event_runs (run);
                COMMENT ON TABLE event_runs IS
                    'The number that events begin with in a run of the server: the lowest one, if there are several.';
                -- PostgreSQL inlines a volatile function. It does not inline a stable one with volatile calls, which costs more
                -- then than its text.
                CREATE OR REPLACE FUNCTION database_run() RETURNS text LANGUAGE sql VOLATILE AS $$
                    SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8) || '/' || '{{schema}}'::regnamespace::oid
                        || '/' || extract(epoch FROM pg_postmaster_start_time())
                $$;
                CREATE FUNCTION begin_event_run() RETURNS bigint LANGUAGE sql AS $$
                    INSERT INTO event_runs (run, first)
                    SELECT database_run(), coalesce(max(former.first) + (1::bigint << 32), now.first)
                    FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS first) AS now
                    LEFT JOIN event_runs AS former ON former.first >= now.first AND former.run <> database_run()
                    GROUP BY now.first
                    RETURNING first
                $$;
                COMMENT ON FUNCTION begin_event_run IS
                    'Notes the time in µs or, if the clock was set back, a number 2³² above the former run.';
                COMMENT ON TABLE outbox_sequences IS 'The number of the last event about a person.';
                """),
    ]
}

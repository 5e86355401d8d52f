/// The tables that every service has beside its own: answers given, messages to deliver, events seen.
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
    ]
}

#!/usr/bin/env bash
# The entry point of the database's container: makes the cluster on an empty volume, brings roles and schemas to what the secret
# says at each start, and then becomes the server.
set -euo pipefail

data=$PGHOST/cluster
passwords=(/run/secrets/*-passwords) # a line `ROLE PASSWORD` for each role that this database has
PATH=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1):$PATH

# Nothing empty takes the place of data that are not there as a whole.
missing() {
    echo "the data are not there as a whole: $1 is missing; put this volume back from a backup, or start on a new volume and" \
        "run deploy/restore (docs/operations/restore.md)" >&2
    exit 1
}

# Under a name of its own until it is whole: what an interrupted one left stays beside it.
make_cluster() {
    local new
    [ ! -f "$data/PG_VERSION" ] || return 0
    [ ! -e "$data" ] || missing "$data/PG_VERSION"
    new=$(mktemp -d "$data.XXXXXX")
    initdb -D "$new" -U postgres -E UTF8 --locale=C.UTF-8 --auth=peer >/dev/null
    postgres --single -D "$new" postgres <<<'CREATE DATABASE vestibule' >/dev/null
    mv -T "$new" "$data"
}

# Over the network a role gets into its database with its password; the superuser comes from inside only.
write_rules() {
    printf '%s\n' 'local all postgres peer' 'host all postgres all reject' 'host vestibule all all scram-sha-256' \
        >"$data/pg_hba.conf"
}

sql() { psql -U postgres -v ON_ERROR_STOP=1 -qAt "$@"; }

# On a socket only: nobody else gets in before all of it is there.
provision() {
    # After a crash, a large database takes minutes. To give up would end the container, and begin again.
    pg_ctl -D "$data" -s -w -t 86400 -o "-k $PGHOST -c listen_addresses=''" start
    if [ -z "$(sql -d postgres -c "SELECT 1 FROM pg_database WHERE datname = 'vestibule'")" ]; then
        pg_ctl -D "$data" -s -w -m fast stop
        missing "the database vestibule"
    fi
    cat "${passwords[@]}" | roles-and-schemas | sql -d vestibule -f -
    pg_ctl -D "$data" -s -w -m fast stop
}

make_cluster
write_rules
provision
# The server takes a key only that nobody else can read, and that is its own user's.
install -m 600 /run/secrets/database-key "$PGHOST/server.key"
# The server's own log would print keys and parameters of statements that fail.
exec postgres -D "$data" -k "$PGHOST" -c listen_addresses='*' -c max_connections=400 -c ssl=on \
    -c ssl_cert_file=/run/secrets/database-certificate -c ssl_key_file="$PGHOST/server.key" -c log_error_verbosity=terse \
    -c log_parameter_max_length=0 -c log_parameter_max_length_on_error=0 -c log_min_error_statement=panic

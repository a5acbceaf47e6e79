"""The services that can be had: how each is installed from Debian, prepared and started as a user without rights."""

from __future__ import annotations

from dataclasses import dataclass

DATA = "/srv/service/data"


@dataclass(frozen=True)
class Kind:
    """`images`: names of images that mean it, without registry and tag; `settings`: variables of such an image that are followed; `prepare`: run once as
    the service's user when the image is made; `start`: a script of the shell that ends in `wait` and makes /tmp/ready when the service answers."""

    name: str
    images: tuple[str, ...]
    packages: tuple[str, ...]
    port: int
    settings: tuple[str, ...]
    prepare: str
    start: str


POSTGRES = Kind(
    "postgres", ("postgres", "postgresql", "postgis", "pgvector", "timescaledb"), ("postgresql", "postgresql-contrib"), 5432,
    ("POSTGRES_USER", "POSTGRES_DB", "POSTGRES_PASSWORD"),
    f"PATH=$(echo /usr/lib/postgresql/*/bin):$PATH initdb -D {DATA} -U postgres --auth=trust -E UTF8 --locale=C.UTF-8",
    f"""export PATH=$(echo /usr/lib/postgresql/*/bin):$PATH
cp -r {DATA} /tmp/data && chmod 700 /tmp/data
postgres -D /tmp/data -k /tmp -p "$PORT" -c listen_addresses=127.0.0.1,::1 -c max_connections=200 -c fsync=off -c full_page_writes=off \
  -c synchronous_commit=off &
until pg_isready -q -h /tmp -p "$PORT" -U postgres; do sleep 0.05; done
user=${{POSTGRES_USER:-postgres}}
ask() {{ psql -q -h /tmp -p "$PORT" -U postgres -d postgres -v name="$1" -v word="$POSTGRES_PASSWORD"; }}
[ "$user" = postgres ] || echo 'create role :"name" superuser login' | ask "$user"
[ -z "$POSTGRES_PASSWORD" ] || echo 'alter role :"name" password :'"'word'" | ask "$user"
database=${{POSTGRES_DB:-$user}}
[ "$database" = postgres ] || echo 'create database :"name"' | ask "$database"
touch /tmp/ready
wait
""")
REDIS = Kind(
    "redis", ("redis", "valkey", "redis-stack-server"), ("redis-server",), 6379, (), "mkdir -p /srv/service/data",
    """redis-server --port "$PORT" --bind 127.0.0.1 ::1 --save "" --appendonly no --dir /tmp --protected-mode no &
until redis-cli -p "$PORT" ping >/dev/null 2>&1; do sleep 0.05; done
touch /tmp/ready
wait
""")
MYSQL = Kind(
    "mysql", ("mysql", "mariadb", "percona"), ("mariadb-server",), 3306,
    ("MYSQL_USER", "MYSQL_PASSWORD", "MYSQL_DATABASE", "MYSQL_ROOT_PASSWORD", "MARIADB_USER", "MARIADB_PASSWORD", "MARIADB_DATABASE", "MARIADB_ROOT_PASSWORD"),
    f"mariadb-install-db --no-defaults --datadir={DATA} --auth-root-authentication-method=normal --skip-test-db",
    f"""cp -r {DATA} /tmp/data
mariadbd --no-defaults --datadir=/tmp/data --socket=/tmp/mysql.sock --port="$PORT" --bind-address=127.0.0.1 --pid-file=/tmp/mysql.pid --tmpdir=/tmp \
  --innodb-flush-log-at-trx-commit=0 --innodb-buffer-pool-size=64M --performance-schema=off &
until mariadb-admin --no-defaults --socket=/tmp/mysql.sock -u root ping >/dev/null 2>&1; do sleep 0.05; done
user=${{MYSQL_USER:-$MARIADB_USER}} word=${{MYSQL_PASSWORD:-$MARIADB_PASSWORD}}
database=${{MYSQL_DATABASE:-$MARIADB_DATABASE}} root=${{MYSQL_ROOT_PASSWORD:-$MARIADB_ROOT_PASSWORD}}
{{ [ -z "$database" ] || echo "create database if not exists \\`$database\\`;"
   for host in % localhost; do
     [ -z "$user" ] || echo "create user '$user'@'$host' identified by '$word'; grant all on *.* to '$user'@'$host';"
   done
   echo "create user 'root'@'%' identified by '$root'; grant all on *.* to 'root'@'%' with grant option;"
   echo "alter user 'root'@'localhost' identified by '$root';"
}} | mariadb --no-defaults --socket=/tmp/mysql.sock -u root
touch /tmp/ready
wait
""")
KINDS = {kind.name: kind for kind in (POSTGRES, REDIS, MYSQL)}


def kind_of(image: str) -> Kind | None:
    """What an image of a workflow means: `docker.io/library/postgres:15-alpine` is postgres."""
    name = image.split("@")[0].rsplit("/", 1)[-1].split(":")[0].lower()
    return next((kind for kind in KINDS.values() if name in kind.images), None)

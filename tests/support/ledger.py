"""Talks to a ledger by plain SQL, as any program may; installs one; and moves its time by moving what it has written.

JSON is left as the text that the ledger gave, so that a test can compare bytes."""
import collections
import contextlib
import os
import subprocess
import uuid

import psycopg2
import psycopg2.extras

from contract import VERBS
from journal import check

psycopg2.extras.register_default_json(globally=True, loads=lambda text: text)
psycopg2.extras.register_default_jsonb(globally=True, loads=lambda text: text)
psycopg2.extensions.register_type(psycopg2.extensions.new_array_type((2951,), "UUID[]", psycopg2.STRING))

HOUSE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
TIMED = ("item", "job", "attempt", "worker", "audit", "pulse")
Token = collections.namedtuple("Token", "id gen claim")


def identifier(name):
    return '"' + name.replace('"', '""') + '"'


def element(value):
    if value is None:
        return "NULL"
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'


def literal(value):
    """A list as PostgreSQL writes arrays: its type is the argument's, not one that the driver guessed."""
    return "{" + ",".join(map(element, value)) + "}" if isinstance(value, list) else value


def token(row):
    return Token(row.id, row.gen, row.claim_id)


def columns(tokens):
    """Tokens as the arrays that the verbs of many take."""
    return [one.id for one in tokens], [one.gen for one in tokens], [one.claim for one in tokens]


class Session:
    """A connection. Each verb of the contract is a method: a list of rows, or the value where it is only one."""

    def __init__(self, dsn, schema="endwell"):
        self.schema, self.quoted = schema, identifier(schema)
        self.connection = psycopg2.connect(dsn, cursor_factory=psycopg2.extras.NamedTupleCursor)
        self.connection.autocommit = True

    def rows(self, sql, *values):
        """`@schema@` stands for the ledger's schema."""
        with self.connection.cursor() as cursor:
            cursor.execute(sql.replace("@schema@", self.quoted), values or None)
            return cursor.fetchall() if cursor.description else []

    def one(self, sql, *values):
        found = self.rows(sql, *values)
        check(len(found) == 1, f"{len(found)} rows instead of one: {sql}")
        return found[0]

    def value(self, sql, *values):
        return self.one(sql, *values)[0]

    def call(self, verb, *values, **named):
        kinds = list(verb.arguments.values())
        parts = [f"%s::{kind}" for kind in kinds[:len(values)]]
        parts += [f"{name} => %s::{verb.arguments[name]}" for name in named]
        arguments = [literal(value) for value in (*values, *named.values())]
        found = self.rows(f"select * from {self.quoted}.{verb.name}({', '.join(parts)})", *arguments)
        return found[0][0] if verb.scalar else found

    def __getattr__(self, name):
        if name not in VERBS:
            raise AttributeError(name)
        return lambda *values, **named: self.call(VERBS[name], *values, **named)

    @contextlib.contextmanager
    def transaction(self, ending="commit"):
        self.rows("begin")
        try:
            yield self
        except BaseException:
            with contextlib.suppress(psycopg2.Error):
                self.rows("rollback")
            raise
        self.rows(ending)

    def refused(self, code, work):
        """The server's error, which has to be this one."""
        try:
            work()
        except psycopg2.Error as error:
            check(error.pgcode == code, f"SQLSTATE {error.pgcode} instead of {code}: {error}")
            return error
        raise AssertionError(f"nothing was raised, SQLSTATE {code} should have been")

    def close(self):
        self.connection.close()


class Later:
    """A call on a session of its own that may have to wait for somebody: runs beside us until it is collected."""

    def __init__(self, pool, session, work):
        self.future = pool.submit(work, session)

    def done(self):
        return self.future.done()

    def result(self):
        return self.future.result(120)


def installed_program():
    return os.environ.get("ENDWELL_LEDGER_PROGRAM")


def sources():
    return os.environ.get("ENDWELL_LEDGER_SOURCES", os.path.join(HOUSE, "ledger"))


def install(session, cluster, database):
    """By the program, where it was named; else by its files, in their order, as it does it."""
    program = installed_program()
    if program:
        done = subprocess.run([program, "migrate"], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                              env={**os.environ, "ENDWELL_DATABASE_URL": cluster.url(database),
                                   "ENDWELL_DATABASE_SCHEMA": session.schema})
        check(done.returncode == 0, f"{program} migrate failed ({database}): {done.stdout}{done.stderr}")
        return
    with open(os.path.join(sources(), "order.txt"), encoding="utf-8") as file:
        names = [line.split("#")[0].strip() for line in file]
    for name in filter(None, names):
        with open(os.path.join(sources(), name), encoding="utf-8") as file:
            session.rows(file.read())


def random_uuid():
    return str(uuid.uuid4())

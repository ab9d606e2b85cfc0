"""Real programs, unmodified: PostgreSQL, nginx and psql loops under load, ended in order. And case 52."""
import glob
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time

from case import test
from journal import check, equal, soon, wait_until, within

S = 1_000_000
USER = "postgres"  # nothing here needs root, and PostgreSQL refuses it


def as_user(*words):
    return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--init-groups", *words]


def own_folder(case, name):
    path = case.path(name)
    os.makedirs(path, 0o711)
    shutil.chown(path, USER, USER)
    return path


def roomy_folder(case):
    """For a database: a container's tmpfs may have 64 MiB, which is too little."""
    path = tempfile.mkdtemp(prefix="endwell-test-", dir="/var/tmp")
    case.cleaners.append(lambda: shutil.rmtree(path, ignore_errors=True))
    shutil.chown(path, USER, USER)
    return path


def nginx_configuration(case):
    folder = own_folder(case, "nginx")
    module = glob.glob("/usr/lib/nginx/modules/ngx_http_echo_module.so")
    check(module, "nginx with its echo module is not there (Debian: nginx-light, libnginx-mod-http-echo)")
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in
                        ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    return case.file("nginx.conf", f"""load_module {module[0]};
daemon off;
worker_processes 2;
pid {folder}/pid;
error_log {folder}/error.log notice;
events {{ worker_connections 256; }}
http {{
access_log off;
keepalive_timeout 65;
{temporary}server {{
listen unix:{folder}/http.sock;
location /slow {{ echo_sleep 1.5; echo slow-and-whole; }}
location / {{ return 200 quick; }}
}}
}}
"""), os.path.join(folder, "http.sock")


def connect_http(path):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.settimeout(30)
    try:
        client.connect(path)
    except OSError:
        client.close()
        return None
    return client


def request(client, where, close=True):
    client.sendall(f"GET {where} HTTP/1.1\r\nHost: x\r\nConnection: {'close' if close else 'keep-alive'}\r\n\r\n".encode())


def whole_answer(client):
    text = b""
    while more := client.recv(65536):
        text += more
    return text


class Load:
    """Clients that each ask for a slow page again and again; `cut` are requests that were begun and not answered."""

    def __init__(self, path, count):
        self.path, self.stop, self.answered, self.cut, self.pending = path, False, 0, [], {}
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.client, args=(number,), daemon=True) for number in range(count)]
        for thread in self.threads:
            thread.start()

    def client(self, number):
        while not self.stop:
            client = connect_http(self.path)
            if client is None:
                return  # nobody listens any more
            with client:
                begun = time.monotonic()
                with self.lock:
                    self.pending[number] = begun
                try:
                    request(client, "/slow")
                    answer = whole_answer(client)
                except OSError as error:
                    answer = repr(error).encode()
                with self.lock:
                    del self.pending[number]
                    if b"slow-and-whole" in answer:
                        self.answered += 1
                    else:
                        self.cut.append((begun, answer[:200]))

    def in_flight(self):
        """Begun at least a second ago, so that the server has surely taken them up, and not yet answered."""
        with self.lock:
            now = time.monotonic()
            return sum(1 for begun in self.pending.values() if now - begun > 1)


WORKER = """
trap 'stopping=1' TERM
sql() { psql -qAtX -h "$DATABASE" -d postgres -v ON_ERROR_STOP=1 "$@"; }
"$ACTOR" say working
while [ -z "$stopping" ]; do
    sql -c "insert into job (worker, state) values ('$ENDWELL_INSTANCE', 'running')" \\
        -c "select pg_sleep(0.1)" \\
        -c "update job set state = 'done' where worker = '$ENDWELL_INSTANCE' and state = 'running'" >/dev/null || exit 9
done
"$ACTOR" say drained
"""

COUNT = ("select (select count(*) from job where state = 'done') || ' ' || (select count(*) from job where state <> 'done') "
         "|| ' ' || (select count(*) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend')")


def three_tiers(case):
    data, sockets = roomy_folder(case), own_folder(case, "pg")
    initdb = glob.glob("/usr/lib/postgresql/*/bin/initdb")
    check(initdb, "PostgreSQL is not there (Debian: postgresql)")
    folder = os.path.dirname(initdb[-1])
    os.chmod(data, 0o700)
    subprocess.run(as_user(initdb[-1], "-D", data, "--no-sync", "-A", "trust"), check=True, capture_output=True, timeout=120,
                   env=case.environment)
    configuration, http = nginx_configuration(case)
    case.environment.update(HOME=data, DATABASE=sockets, ACTOR_LOG=case.file("actors.log", "", 0o666))
    case.log = type(case.log)(case.path("actors.log"))
    own_folder(case, "run")
    plan = case.plan(GraceSec=40)
    plan.service("data", f"{folder}/postgres -D {data} -c listen_addresses= -c unix_socket_directories={sockets} -c fsync=off",
                 Phase="db", Type="notify", KillSignal="SIGINT")
    plan.shell("schema", 'exec psql -qX -h "$DATABASE" -d postgres -c '
               '"create table job (id serial, worker text, state text)"', Phase="db", Type="oneshot", After="data")
    script = case.file("worker.sh", WORKER)
    plan.service("worker", f"/bin/sh {script}", Phase="workers", Instances=4)
    plan.service("web", f"/usr/sbin/nginx -p {case.path('nginx')} -e stderr -c {configuration}", Phase="http",
                 KillSignal="SIGQUIT")
    plan.section("[Hook count]", {"Exec": f'psql -qAtX -h {sockets} -d postgres -o {case.path("pg")}/counted -c "{COUNT}"',
                                  "Phase": "db", "On": "begin", "OnFailure": "abort", "TimeoutSec": "10s"})
    return plan, http


@test
def the_database_ends_after_the_workers_and_these_after_the_web_server_under_load(case):
    plan, http = three_tiers(case)
    run = case.run(plan, user=USER).ready()
    wait_until(lambda: case.log.all("working", instance=4), "the workers", alive=run.alive)
    wait_until(lambda: connect_http(http), "the web server", alive=run.alive)
    load = Load(http, 12)
    wait_until(lambda: load.answered >= 24 and load.in_flight() >= 4, "load", alive=run.alive)
    signalled = time.monotonic()
    run.send(15)
    run.journal.until("service_asked", service="web")
    equal(run.wait(), 0, "exit code")
    for thread in load.threads:
        thread.join(60)
    # A connection that nginx had not accepted when it closed its listener is reset: that is nginx, not the order.
    early = [one for one in load.cut if one[0] < signalled - 1]
    equal(early, [], "requests that were in flight and cut")
    journal = run.journal
    journal.order(journal.only("ending_started"), journal.only("service_asked", service="web", signal="SIGQUIT"),
                  journal.only("service_gone", service="web"), journal.only("phase_finished", phase="http"),
                  journal.first("service_asked", service="worker"), journal.last("service_gone", service="worker"),
                  journal.only("phase_finished", phase="workers"), journal.only("hook_finished", hook="count"),
                  journal.only("service_asked", service="data", signal="SIGINT"),
                  journal.only("service_gone", service="data"), journal.only("ending_finished"))
    equal(len(journal.all("service_gone", service="worker", cause="clean", certain=True)), 4, "workers that went clean")
    journal.none("service_killed")
    equal(len(case.log.all("drained")), 4, "workers that drained")
    done, half, sessions = (int(word) for word in case.text("pg/counted").split())
    check(done > 0, "no job was done")
    equal((half, sessions), (0, 0), "half-done jobs and client sessions when the db phase began")
    finished = journal.only("ending_finished")
    equal((finished["killed"], finished["left"], finished["hooks_failed"]), (0, 0, 0), "the summary")


@test
def case_52_an_idle_keep_alive_connection_does_not_hold_up_the_web_phase(case):
    configuration, http = nginx_configuration(case)
    own_folder(case, "run")
    plan = case.plan(Phases="http db")
    plan.service("web", f"/usr/sbin/nginx -p {case.path('nginx')} -e stderr -c {configuration}", Phase="http",
                 KillSignal="SIGQUIT")
    plan.service("data", "/bin/sleep 3600", Phase="db")
    run = case.run(plan, user=USER).ready()
    client = wait_until(lambda: connect_http(http), "the web server", alive=run.alive)
    request(client, "/quick", close=False)
    check(b"quick" in client.recv(65536), "no answer on the connection")
    slow = connect_http(http)
    request(slow, "/slow")
    wait_until(lambda: slow.recv(0) == b"", "the slow request is on its way")
    equal(run.end(), 0, "exit code")
    equal(client.recv(65536), b"", "the idle connection was closed")
    client.close(), slow.close()
    soon(run.journal.only("phase_finished", phase="http")["took_us"], "the http phase")
    run.journal.none("service_killed")


@test
def postgres_with_an_idle_client_ends_at_once_by_its_own_signal(case):
    plan, _ = three_tiers(case)
    plan.sections = [one for one in plan.sections if not one[0].startswith(("[Service w", "[Hook"))]
    run = case.run(plan, user=USER).ready()
    idle = subprocess.Popen(["psql", "-qX", "-h", case.path("pg"), "-U", USER, "-d", "postgres"], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=case.environment, text=True)
    idle.stdin.write("select 'here';\n")
    idle.stdin.flush()
    while "here" not in idle.stdout.readline():
        pass
    equal(run.end(), 0, "exit code")
    run.journal.none("service_killed")
    within(run.journal.only("ending_finished")["took_us"], 0, 10 * S, "the ending")
    idle.communicate(timeout=60)

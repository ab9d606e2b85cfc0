"""Runs a shell script in namespaces of its own: processes, mounts (a tmpfs at /run), network. All ends with it."""
import os
import subprocess

TIMEOUT_SECONDS = 90


def run_script(script, endwell, folder):
    """The finished process; standard error is in its output. `endwell` is the first one in PATH."""
    environment = {"PATH": os.path.dirname(os.path.realpath(endwell)) + ":/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
                   "HOME": "/root", "LANG": "C.UTF-8"}
    whole = f"set -eu\nmount -t tmpfs tmpfs /run\ncd {folder}\n{script}"
    return subprocess.run(["setpriv", "--pdeathsig", "SIGKILL", "unshare", "--mount", "--net", "--pid", "--fork",
                           "--kill-child", "--mount-proc", "sh", "-c", whole],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=TIMEOUT_SECONDS, env=environment, check=False)


# Behind `endwell run … &`: until start-up is finished. Had it ended instead, the wait fails the script.
UNTIL_READY = "until endwell status 2>/dev/null | grep -q '^ready'; do kill -0 $!; sleep 0.02; done\n"

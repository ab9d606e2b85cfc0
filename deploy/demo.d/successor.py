"""The next container on the same database: finishes what is left, and asks who was to blame."""
import json
import re
import subprocess

from words import say, tell

START_SEC, WORK_SEC = 90, 240
SHOWN = re.compile(r"job |  (status|attempts|error|payload)  ")


class Successor:
    def __init__(self, run, world, endwell):
        self.run, self.world, self.endwell = run, world, endwell

    def jobs(self, *words):
        """What a person sees who asks `endwell jobs`."""
        return subprocess.run([self.endwell, "jobs", *words], env=self.world.environment(), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False).stdout

    def is_done(self):
        said = self.jobs("stats", "--json")
        queues = [json.loads(line) for line in said.splitlines() if line.startswith("{")] or json.loads(said or "[]")
        return bool(queues) and not any(queue[what] for queue in queues for what in ("ready", "scheduled", "running"))

    def perform(self, interruption):
        self.run.wait_for(self.run.started, "start-up was finished", START_SEC, interruption)
        say("successor", "on the same database; it goes on until nothing is left to do ...")
        self.run.wait_for(self.is_done, "the end of the work", WORK_SEC, interruption, pause=0.2)
        self.blame()
        say("SIGTERM", "to the successor")

    def blame(self):
        tell("\n$ endwell jobs culprits")
        tell(self.jobs("culprits").rstrip())
        found = json.loads(self.jobs("culprits", "--json") or "{}")
        ids = sorted({str(job) for one in found.get("culprits", []) for job in one["jobs"]}, key=int)
        if ids:
            tell(f"\n$ endwell jobs show --payload {' '.join(ids)}    (of each the lines that say who)")
            for line in self.jobs("show", "--payload", *ids).splitlines():
                if SHOWN.match(line):
                    tell(line)
        tell()

"""A configuration of endwell under construction: sections in order, written as an INI file."""
import os
import shlex

ACTOR = os.environ.get("ENDWELL_ACTOR", "")


def actor(steps):
    """The command line of an actor that takes these steps."""
    return f"{ACTOR} {steps}"


class Plan:
    def __init__(self, case, **supervisor):
        self.case = case
        self.runtime = supervisor.setdefault("RuntimeDirectory", os.path.join(case.directory, "run"))
        self.phases = supervisor.get("Phases", "http workers db").split()
        self.mode = supervisor.get("Mode", "production")
        self.sections = [("[Supervisor]", supervisor)]
        self.phase_of = {}

    def section(self, heading, keys):
        self.sections.append((heading, keys))
        return self

    def service(self, name, command, **keys):
        self.phase_of[name] = keys.get("Phase", self.phases[0])
        return self.section(f"[Service {name}]", {"ExecStart": command, **keys})

    def actor(self, name, steps="serve", **keys):
        return self.service(name, actor(steps), **keys)

    def shell(self, name, text, **keys):
        return self.service(name, f"/bin/sh -c {shlex.quote(text)}".replace("$", "$$"), **keys)

    def hook(self, name, steps, **keys):
        return self.section(f"[Hook {name}]", {"Exec": actor(steps), **keys})

    def database(self, reaper=None, **keys):
        """[Database], and [Reaper] where it has keys; the built-in services that they bring are known by their phase."""
        phase = keys.get("Phase", "db" if "db" in self.phases else self.phases[-1])
        for name in ("endwell-database", "endwell-migrate", "endwell-reaper"):
            self.phase_of[name] = phase
        if reaper:
            self.section("[Reaper]", reaper)
        return self.section("[Database]", keys)

    def phase(self, name, **keys):
        return self.section(f"[Phase {name}]", keys)

    def text(self):
        lines = []
        for heading, keys in self.sections:
            lines.append(heading)
            for key, value in keys.items():
                for one in value if isinstance(value, list) else [value]:
                    lines.append(f"{key}={one}")
        return "\n".join(lines) + "\n"

    def write(self, name="endwell.ini"):
        path = os.path.join(self.case.directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text())
        return path

"""What the demo saw from outside, judged: every request and every job, and whether the database ended in order."""
import json
import os
import shutil

from words import tell


class Harm:
    """Sentences of what must not be, and the numbers that were looked at."""

    def __init__(self):
        self.found, self.numbers = [], {}

    def count(self, **numbers):
        self.numbers.update(numbers)

    def add(self, sentence):
        self.found.append(sentence)


def say(label, text):
    tell(f"  {label:<10} {text}")


def judge_requests(harm, done, in_hand):
    failed = [one for one in done if one.problem]
    harm.count(answered=len(done) - len(failed), failed=len(failed), in_hand=in_hand)
    say("requests", f"{len(done) - len(failed)} answered in full, {len(failed)} failed; "
        f"{in_hand} were in hand when SIGTERM came")
    for one in failed[:5]:
        harm.add(one.problem)


def judge_jobs(harm, jobs, put):
    """`jobs`: (id, claimed, finished, effects) each."""
    lost = [job for job, claimed, finished, _ in jobs if claimed and not finished]
    doubled = [job for job, _, _, effects in jobs if effects > 1]
    wrong = [job for job, _, finished, effects in jobs if bool(finished) != (effects > 0)]
    waiting = sum(1 for _, claimed, _, _ in jobs if not claimed)
    done = len(jobs) - waiting - len(lost)
    harm.count(put=put, done=done, lost=len(lost), doubled=len(doubled), waiting=waiting)
    say("jobs", f"{put} put in: {done} done, {len(lost)} lost, {len(doubled)} done twice, "
        f"{waiting} wait for the next container")
    for what, found in (("taken and never finished", lost), ("done twice", doubled),
                        ("done, but not so recorded", wrong)):
        if found:
            harm.add(f"jobs {what}: {', '.join(map(str, found[:8]))}")
    if len(jobs) != put:
        harm.add(f"{put} jobs were put in, {len(jobs)} are in the table")


def judge(harm, world, play, jobs, in_hand):
    tell("\nSeen from outside")
    judge_requests(harm, play.clients.done, in_hand)
    if jobs is not None:
        judge_jobs(harm, jobs, play.producer.put)
        in_order = harm.numbers["database_in_order"] = world.was_shut_down()
        say("database", "shut down in order, as PostgreSQL's own pg_controldata says" if in_order else
            "was NOT shut down in order")
        if not in_order:
            harm.add("PostgreSQL must recover at its next start")
    for sentence in harm.found:
        say("HARM", sentence)


def keep(folder, harm, world, spans):
    """What a test wants to look at afterwards."""
    os.makedirs(folder, exist_ok=True)
    shutil.copy(world.journal(), folder)
    with open(os.path.join(folder, "spans.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(span) + "\n" for span in spans)
    with open(os.path.join(folder, "numbers.json"), "w", encoding="utf-8") as file:
        json.dump({**harm.numbers, "folders": [world.folder, world.runtime]}, file)

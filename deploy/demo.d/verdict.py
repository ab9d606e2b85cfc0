"""What the demo saw from outside, judged: every request, every job and every clip, and whether the database ended in order."""
import json
import os
import shutil

from words import tell

ATTEMPTS = 3  # of each job, as queues.sql says
GIVEN_BACK = ("released", "interrupted")
NOTHING = {"jobs": [], "attempts": [], "items": []}


class Harm:
    """Sentences of what must not be, and the numbers that were looked at."""

    def __init__(self):
        self.found, self.numbers = [], {}

    def count(self, **numbers):
        self.numbers.update(numbers)

    def add(self, sentence):
        self.found.append(sentence)

    def add_each(self, what, found):
        if found:
            self.add(f"{what}: {', '.join(map(str, sorted(found)[:8]))}")


def say(label, text):
    tell(f"  {label:<10} {text}")


def spans(ledger):
    """What was in hand, and when: attempts that did not succeed, and the ones that did."""
    both = ledger["attempts"] + [job for job in ledger["jobs"] if job["state"] == "done"]
    return [{"name": "jobs", "begin": one["begin"], "end": one["end"]} for one in both if one["begin"] and one["end"]]


def judge_requests(harm, done, in_hand):
    failed = [one for one in done if one.problem]
    harm.count(answered=len(done) - len(failed), failed=len(failed), in_hand=in_hand)
    say("requests", f"{len(done) - len(failed)} answered in full, {len(failed)} failed; "
        f"{in_hand} were in hand when SIGTERM came")
    for one in failed[:5]:
        harm.add(one.problem)


def judge_deploy(harm, ledger):
    """Behind the first container nobody holds a job, and nobody was charged for the deploy."""
    back = [one["job"] for one in ledger["attempts"] if one["outcome"] in GIVEN_BACK]
    held = [job["id"] for job in ledger["jobs"] if job["state"] == "running"]
    charged = [one["job"] for one in ledger["attempts"] if one["outcome"] in ("expired", "worker_died")]
    done = sum(job["state"] == "done" for job in ledger["jobs"])
    dead = sum(job["dead"] for job in ledger["jobs"])
    waiting = len(ledger["jobs"]) - done - dead - len(held)
    harm.count(given_back=len(back), held=len(held), done_before=done)
    say("jobs", f"{done} done when it was over, {dead} buried; {len(back)} were given back in mid-work, {len(held)} left in the "
        f"hands of the dead; {waiting} are for the successor")
    harm.add_each("jobs left in the hands of the dead", held)
    harm.add_each("jobs that were charged for the deploy", charged)


def judge_jobs(harm, ledger, producer, corrupt, is_over):
    jobs = ledger["jobs"]
    done = [job for job in jobs if job["state"] == "done"]
    buried = [job for job in jobs if job["dead"]]
    wrong = [job["file"] or job["id"] for job in buried if job["file"] not in corrupt or job["attempts"] != ATTEMPTS]
    waiting = len(jobs) - len(done) - len(buried)
    lost = producer.jobs - len(jobs)
    harm.count(put=producer.jobs, done=len(done), buried=len(buried), lost=lost, waiting=waiting)
    say("jobs", f"{producer.jobs} put in: {len(done)} done, {len(buried)} buried after {ATTEMPTS} attempts each, {lost} lost, "
        f"{waiting} waiting")
    harm.add_each("jobs buried that should not be, or not as they should", [str(one) for one in wrong])
    if lost:
        harm.add(f"{producer.jobs} jobs were put in, {len(jobs)} are in the ledger")
    if is_over and waiting:
        harm.add(f"{waiting} jobs were neither done nor buried")
    if is_over and len(buried) != len(corrupt):
        harm.add(f"{len(corrupt)} recordings are corrupt, {len(buried)} jobs were buried")


def judge_clips(harm, ledger, files, producer, is_over):
    """The files against the ledger's items: neither knows of the other."""
    made = {name for name in files if name.endswith(".wav")}
    again = set(files) - made
    recorded = {item["key"] for item in ledger["items"] if item["state"] == "done"}
    begun = {item["key"] for item in ledger["items"]}
    doubted = sum(item["tries"] > 1 for item in ledger["items"])
    harm.count(clips=len(made), doubled=len(again), ordered=producer.clips, doubted=doubted)
    say("clips", f"{producer.clips} sentences: {len(made)} clips, {len(recorded)} paid for in the ledger, {len(again)} made "
        f"twice; {doubted} cut by the ending, in doubt, and looked up")
    harm.add_each("clips made twice", again)
    harm.add_each("clips recorded, but not there", recorded - made)
    harm.add_each("clips that the ledger knows nothing of", made - begun)
    if is_over and not len(made) == len(recorded) == producer.clips:
        harm.add(f"{producer.clips} clips were ordered, {len(made)} are there, {len(recorded)} are recorded")


def judge_database(harm, in_order):
    """`in_order`: for each container."""
    harm.count(database_in_order=all(in_order))
    say("database", f"shut down in order {in_order.count(True)} times of {len(in_order)}, as PostgreSQL's own pg_controldata says")
    if not all(in_order):
        harm.add("PostgreSQL had to recover at its next start, or must")


def conclude(harm):
    for sentence in harm.found:
        say("HARM", sentence)


def keep(folder, harm, world, drawn):
    """What a test wants to look at afterwards."""
    os.makedirs(folder, exist_ok=True)
    for number in range(len(world.runtimes)):
        name = "journal.jsonl" if number == 0 else f"journal-{number + 1}.jsonl"
        if os.path.exists(world.journal(number)):
            shutil.copy(world.journal(number), os.path.join(folder, name))
    with open(os.path.join(folder, "spans.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(span) + "\n" for span in drawn)
    with open(os.path.join(folder, "numbers.json"), "w", encoding="utf-8") as file:
        json.dump({**harm.numbers, "harm": harm.found, "folders": [world.folder, *world.runtimes]}, file)

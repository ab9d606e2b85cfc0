"""What the workers of the demo are given: batches of sentences for a voice, recordings to decode, four of them corrupt."""
import json
import os
import random
import struct
import subprocess
import threading

SENTENCES = (
    "The web server is asked first, and finishes what it has in hand.",
    "A worker takes no more jobs, and gives back what it cannot finish.",
    "Whoever comes next goes on from the next clip.",
    "The database is the last one to go.",
    "Nothing that was paid for is paid for twice.",
    "A job that hangs is tried three times, and then it rests.",
    "Somebody will look at it in the morning.",
    "No request was cut, and no job was lost.",
)
CORRUPT = 4
BLOCK = 4096


def blocks(samples, corrupt):
    """A recording as decode reads it; a corrupt one leads from its last block back to its second."""
    places = range(8, 8 + len(samples) // BLOCK * (BLOCK + 8), BLOCK + 8)
    text = bytearray(8)
    for number, place in enumerate(places):
        last = number == len(places) - 1
        following = places[number + 1] if not last else places[1] if corrupt else 0
        text += struct.pack("<II", following, BLOCK) + samples[number * BLOCK:(number + 1) * BLOCK]
    return bytes(text)


def record(folder, path, good):
    """Recordings of a voice; the names of the good ones and of the corrupt ones."""
    spoken = subprocess.run(["espeak-ng", "--stdout", SENTENCES[0]], env={"PATH": path}, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, check=True).stdout
    names = [f"take-{number}.rec" for number in range(1, good + 1)]
    corrupt = [f"corrupt-{number}.rec" for number in range(1, CORRUPT + 1)]
    for name in names + corrupt:
        with open(os.path.join(folder, name), "wb") as file:
            file.write(blocks(spoken[44:], name in corrupt))
    return names, corrupt


def batch(count):
    return {"sentences": [f"Number {number}. {SENTENCES[number % len(SENTENCES)]}" for number in range(1, count + 1)]}


class Producer:
    """Puts jobs in: at first books, which are batches too long for a deploy, short batches and all recordings; then a
    few short ones at a time, until stopped."""

    def __init__(self, environment, recordings, book_clips, first, each):
        self.environment, self.recordings, self.book_clips = environment, recordings, book_clips
        self.first, self.each = first, each
        self.jobs = self.clips = 0  # put in
        self.problem = None
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def start(self):
        self.speech([self.book_clips] * 2, "book")
        self.put("decode", "recording", [{"file": name} for name in self.recordings])
        self.speech([random.randint(3, 6) for _ in range(self.first)], "batch")
        self.thread.start()

    def speech(self, counts, kind):
        if self.put("speech", kind, [batch(count) for count in counts]):
            self.clips += sum(counts)

    def put(self, queue, kind, payloads):
        quoted = ", ".join("'" + json.dumps(payload).replace("'", "''") + "'" for payload in payloads)
        done = subprocess.run(["psql", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1"], env=self.environment,
                              input=f"SELECT endwell.enqueue_many('{queue}', '{kind}', ARRAY[{quoted}]::json[]);",
                              capture_output=True, text=True, check=False)
        if done.returncode == 0:
            self.jobs += len(payloads)
        else:
            self.problem = done.stderr.strip()
        return done.returncode == 0

    def run(self):
        while not self.over.wait(0.25) and self.problem is None:
            self.speech([random.randint(3, 6) for _ in range(self.each)], "batch")

    def stop(self):
        self.over.set()
        if self.thread.ident:
            self.thread.join()

"""What the demo says. A reader who goes away early (a pipe into head) loses the words, not the clean end."""
import os
import sys


def tell(text=""):
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(label, text):
    tell(f"{label:<9} {text}")

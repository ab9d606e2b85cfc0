#!/usr/bin/python3
"""Makes a folder one of a dead file system: `dead_folder.py FOLDER` mounts a FUSE file system there that nobody serves, so
that whoever looks for something in it waits, and leaves a process behind that keeps it so."""
import ctypes
import os
import signal
import sys

LIBC = ctypes.CDLL(None, use_errno=True)


def main():
    folder = sys.argv[1]
    fuse = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={fuse},rootmode=40000,user_id=0,group_id=0"
    if LIBC.mount(b"dead", folder.encode(), b"fuse", 0, options.encode()) < 0:
        sys.exit(f"dead_folder.py: {os.strerror(ctypes.get_errno())}")
    if os.fork() == 0:
        os.setsid()
        for fd in (0, 1, 2):
            os.close(fd)
        signal.pause()


main()

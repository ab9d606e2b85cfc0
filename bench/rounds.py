"""rounds.py - what the rounds of every bench need: whose turn it is, and how busy the machine was with others."""
import resource
import time


def turned(number, contenders):
    """Nobody always follows the same neighbour's mess."""
    shift = number * 3 % len(contenders)
    return contenders[shift:] + contenders[:shift]


def busy_fraction(seconds):
    """How busy all processors were while this program slept: the noise of others. Stolen time counts as busy."""
    def read():
        with open("/proc/stat") as file:
            numbers = [int(n) for n in file.readline().split()[1:9]]
        return sum(numbers), numbers[3] + numbers[4]
    total, idle = read()
    time.sleep(seconds)
    total_after, idle_after = read()
    return 1 - (idle_after - idle) / max(1, total_after - total)


def own_cpu_seconds():
    """Of our processes that have ended, and of theirs that they waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime

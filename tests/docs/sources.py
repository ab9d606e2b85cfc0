"""What the program's own sources say of events, keys and exit codes, so that the manual can be held against them."""
import os
import re

HOUSE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def text(*path):
    with open(os.path.join(HOUSE, *path), encoding="utf-8") as file:
        return file.read()


def events():
    """{event: [field, …]} of the table in shutdown/event.c; each expected to be found."""
    source = text("shutdown/event.c")
    words = dict(re.findall(r'^\s+F\((\w+), "(\w+)", \w+, \w+\)', source, re.MULTILINE))
    macros = {name: body for name, body in re.findall(r"^#define (INSTANCE|HOOKED)\s+(.*)$", source, re.MULTILINE)}
    found = {}
    for name, fields in re.findall(r'\[EVENT_\w+\] =\s*\{\s*"(\w+)",\s*\{([^}]*)\}', source):
        for macro in ("HOOKED", "INSTANCE"):
            fields = re.sub(rf"\b{macro}\b", lambda _, macro=macro: macros[macro], fields)
        found[name] = [words[field] for field in re.findall(r"A\((\w+)\)", fields)]
    return found


def keys():
    """{section: [key, …]} that this version takes: without those that are refused as of a later one."""
    source = text("supervisor/config_keys.c")
    found = {}
    for section, body in re.findall(r"static const SettingsKey (\w+)_keys\[\] = \{(.*?)\n\};", source, re.DOTALL):
        taken = re.findall(r'(?:SINGLE|LIST)\("(\w+)"\)', body)
        if taken:
            found[section.capitalize()] = taken
    return found


def exit_codes():
    return {int(code) for code in re.findall(r"^\s+EXIT_\w+ = (\d+),", text("shutdown/verdict.h"), re.MULTILINE)}

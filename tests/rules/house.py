"""house.py - what the rules share: the sources as a reader sees them, and breaches as FILE:LINE: what.

A rule is a program of one file. It takes the source root (and the build folder where it looks at what was built),
prints every breach and ends with 1, or prints nothing and ends with 0.
"""
import os
import re
import sys

ROOMS = ('base', 'shutdown', 'supervisor', 'ledger', 'reaper', 'worker', 'logger', 'prober', 'gateway', 'report', 'verify')  # what is shipped
NOT_OURS = ('.git', 'build', '__pycache__')


def walk(root, ends, below=''):
    """Files under the root whose name ends so, by path from the root, sorted. Build folders are passed over."""
    found = []
    for folder, folders, files in os.walk(os.path.join(root, below)):
        folders[:] = sorted(f for f in folders if f not in NOT_OURS)
        found += [os.path.relpath(os.path.join(folder, f), root) for f in files if f.endswith(ends)]
    return sorted(found)


def sources(root, ends=('.c', '.h'), rooms=ROOMS):
    return [path for room in rooms for path in walk(root, ends, room)]


def text(root, path):
    with open(os.path.join(root, path), encoding='utf-8', errors='replace') as file:
        return file.read()


def lines(root, path):
    return text(root, path).splitlines()


TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def blanked(source, strings=True):
    """The source without comments (and the letters of its strings); lines keep their numbers, columns their places."""
    def blank(match):
        token = match.group(0)
        if token[0] in '"\'':
            return token if not strings else token[0] + ' ' * (len(token) - 2) + token[-1]
        return re.sub(r'[^\n]', ' ', token)
    return TOKEN.sub(blank, source)


def code(root, path):
    return blanked(text(root, path)).splitlines()


def includes(root, path):
    """(line, name, own) of each #include; own: in quotes."""
    found = []
    for number, line in enumerate(blanked(text(root, path), strings=False).splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
        if match:
            found.append((number, match.group(2), match.group(1) == '"'))
    return found


def functions(root, path):
    """(name, first line, last line) of each function: house style puts its opening at column 0 and `}` alone there."""
    found, start, name = [], None, None
    head = []  # lines of a declaration that is not yet over
    for number, line in enumerate(code(root, path), 1):
        line = line.rstrip()
        if start is not None:
            if line == '}':
                found.append((name, start, number))
                start = None
            continue
        if not line or line.startswith('#') or line.startswith('}'):
            head = []
            continue
        if not line[0].isspace():
            head = [(number, line)]
        elif head:
            head.append((number, line))
        if head and line.endswith('{'):
            whole = ' '.join(part for _, part in head)
            match = re.search(r'(\w+)\s*\(', re.sub(r'__attribute__\s*\(\(.*?\)\)', '', whole))
            is_type = re.match(r'(typedef|struct|enum|union)\b[^(]*\{', whole)
            if match and '=' not in whole.split('(')[0] and not is_type:
                start, name = head[0][0], match.group(1)
                if name in ('Test', 'ParameterizedTest', 'TestSuite'):
                    name = re.sub(r'.*?\(([^)]*)\).*', r'\1', whole).replace(' ', '').replace(',', '.')
            head = []
        elif line.endswith((';', '}')):
            head = []
    return found


def function_at(spans, number):
    for name, first, last in spans:
        if first <= number <= last:
            return name
    return None


def table(path):
    """Rows of a list beside the rules: words, `#` begins a comment. (line, words)"""
    with open(path, encoding='utf-8') as file:
        rows = [(n, line.split('#')[0].split()) for n, line in enumerate(file, 1)]
    return [(n, words) for n, words in rows if words]


def beside(root, name):
    """A list that belongs to the rules, of the tree that is looked at."""
    return os.path.join(root, 'tests', 'rules', name)


class Breaches:
    def __init__(self):
        self.found = []

    def add(self, path, line, what):
        self.found.append((path, line, what))

    def end(self):
        for path, line, what in sorted(set(self.found)):
            print(f'{path}:{line}: {what}')
        sys.exit(1 if self.found else 0)


def arguments(build=False):
    """The source root, and the build folder where a rule needs one."""
    wanted = 3 if build else 2
    if len(sys.argv) < wanted:
        print(f'usage: {os.path.basename(sys.argv[0])} SOURCE-ROOT{" BUILD-FOLDER" if build else ""}', file=sys.stderr)
        sys.exit(2)
    return sys.argv[1:wanted] if build else sys.argv[1]

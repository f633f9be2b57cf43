#!/usr/bin/env python3
"""One command for all programs of the search stack.

    neptune COMMAND [ARGUMENTS]

Finds the program of the command in the list `commands.tsv` and becomes it: no process stays between the caller and the
program, so signals, terminals and exit statuses are the program's own.
"""

import difflib
import os
import re
import signal
import subprocess
import sys
from typing import Dict, List, NamedTuple, Optional

OK, FAILED, CALLERS_MISTAKE = 0, 1, 2
LIST_NAME = "commands.tsv"
VERSION_LINE = "# neptune version "
_LIST_SIZE_MAX = 1 << 20
_FIELDS = 6
_SUGGESTIONS_MAX = 3


class Command(NamedTuple):
    name: str
    also: List[str]
    program: str  # its path in the tree: "tools/search/search"
    group: str
    words: List[str]
    summary: str


class CommandList(NamedTuple):
    version: str
    commands: List[Command]

    def find(self, name: str) -> Optional[Command]:
        return next((c for c in self.commands if name == c.name or name in c.also), None)

    def similar(self, name: str) -> List[str]:
        """Names that could have been meant, the most similar first."""
        names: Dict[str, str] = {other: c.name for c in self.commands for other in [c.name, *c.also]}
        names["help"] = "help"
        close = difflib.get_close_matches(name.lower(), names, n=_SUGGESTIONS_MAX, cutoff=0.6)
        begun = [other for other in names if len(name) >= 2 and other.startswith(name.lower())]
        return list(dict.fromkeys(names[other] for other in begun + close))[:_SUGGESTIONS_MAX]


class Place(NamedTuple):
    """Where the list and the programs are."""
    list_path: str
    root: str         # of the programs
    is_installed: bool  # programs are in one folder, under their last names

    def program(self, command: Command) -> str:
        return os.path.join(self.root, os.path.basename(command.program) if self.is_installed else command.program)


class Failure(Exception):
    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = status


def parse_list(text: str) -> CommandList:
    """Raises ValueError with the number of the first malformed line."""
    version, commands = "unknown", []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith(VERSION_LINE):
            version = line[len(VERSION_LINE):]
        if not line or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != _FIELDS or not all(fields[i] for i in (0, 2, 3, 5)):
            raise ValueError(f"line {number} does not have {_FIELDS} fields")
        name, also, program, group, words, summary = fields
        commands.append(Command(name, also.split(), program, group, words.split(), summary))
    return CommandList(version, commands)


def places(started_as: str) -> List[Place]:
    """Where Bazel puts the programs, and where an installation has them."""
    here = os.path.abspath(started_as)
    installed = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(started_as))), "libexec", "neptune")
    found = [Place(os.path.join(installed, LIST_NAME), installed, True)]
    while True:  # one link after the other: a link to the built program leads to what Bazel put beside that
        for root in (here + ".runfiles/neptune_search", os.path.join(os.path.dirname(here), "../..")):
            root = os.path.normpath(root)
            found.append(Place(os.path.join(root, "tools", "neptune", LIST_NAME), root, False))
        if not os.path.islink(here):
            return found
        here = os.path.join(os.path.dirname(here), os.readlink(here))


def find_place(started_as: str) -> Place:
    tried = places(started_as)
    for place in tried:
        if os.path.exists(place.list_path):
            return place
    raise Failure(FAILED, f"no list of commands, neither {tried[0].list_path} nor among the files that Bazel makes; "
                          "build it with: bazel build //tools/neptune")


def read_list(path: str) -> CommandList:
    try:
        with open(path, encoding="utf-8") as file:
            return parse_list(file.read(_LIST_SIZE_MAX))
    except (OSError, ValueError) as error:
        raise Failure(FAILED, f"cannot read {path}: {error}") from error


def overview(commands: CommandList) -> str:
    lines = ["One command for all programs of the search stack.", "",
             "  neptune COMMAND [ARGUMENTS]   run a command",
             "  neptune help [COMMAND]        what a command does, and its flags",
             "  neptune --version", ""]
    width = max((len(c.name) for c in commands.commands), default=0)
    for group in dict.fromkeys(c.group for c in commands.commands):
        lines.append(group)
        lines += [f"  {c.name:<{width}}  {c.summary}" for c in commands.commands if c.group == group]
        lines.append("")
    return "\n".join(lines[:-1])


def unknown(name: str, commands: CommandList) -> Failure:
    similar = commands.similar(name)
    meant = f"; did you mean {' or '.join(repr(s) for s in similar)}?" if similar else ""
    known = ", ".join(sorted(c.name for c in commands.commands))
    return Failure(CALLERS_MISTAKE, f"there is no command '{name}'{meant}\nCommands: {known}, help.\n"
                                    "'neptune help' says what each does.")


def caller_environment(place: Place, started_as: str) -> Dict[str, str]:
    """The environment in which programs of a build tree find the caller's files and the source tree, as `bazel run` gives
    it."""
    environment = dict(os.environ)
    if not place.is_installed and "BUILD_WORKSPACE_DIRECTORY" not in environment:
        source = os.path.realpath(started_as)  # tools/neptune/neptune.py
        environment["BUILD_WORKSPACE_DIRECTORY"] = os.path.dirname(os.path.dirname(os.path.dirname(source)))
        environment["BUILD_WORKING_DIRECTORY"] = os.getcwd()
    return environment


def program_of(command: Command, place: Place) -> str:
    program = place.program(command)
    if os.access(program, os.X_OK):
        return program
    if place.is_installed:
        raise Failure(FAILED, f"'{command.name}' is not installed here: {program} cannot be executed")
    raise Failure(FAILED, f"'{command.name}' is not built: {program} cannot be executed; "
                          "build it with: bazel build //tools/neptune")


def become(command: Command, place: Place, started_as: str, arguments: List[str]) -> None:
    program = program_of(command, place)
    environment = caller_environment(place, started_as)
    # Python ignores it, and the program would inherit that: `neptune search x | head` must end quietly.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    if "BUILD_WORKING_DIRECTORY" in environment and not place.is_installed:
        os.chdir(place.root)  # where programs look for the files that they were built with
    try:
        os.execve(program, [program, *arguments], environment)
    except OSError as error:
        raise Failure(FAILED, f"cannot start {program}: {error.strerror}") from error


def as_typed(text: str, own: Command, commands: CommandList) -> str:
    """The help of a command's program with commands as one types them here."""
    own_names = "|".join(dict.fromkeys([os.path.basename(own.program), own.name]))
    text = re.sub(rf"^  ({own_names})(?= |$)", f"  neptune {own.name}", text, flags=re.MULTILINE)
    names = {name: c.name for c in commands.commands for name in [c.name, os.path.basename(c.program)]}

    def typed(match) -> str:
        return f"neptune {names[match[1]]}" if match[1] in names else match[0]
    return re.sub(r"bazel run //tools:(\w+)(?: --(?= ))?(?!\w)", typed, text)


def show_help(names: List[str], commands: CommandList, place: Place, started_as: str) -> int:
    if not names or names == ["help"]:
        print(overview(commands))
        return OK
    if len(names) > 1:
        raise Failure(CALLERS_MISTAKE, f"help takes one command, not {len(names)}")
    command = commands.find(names[0])
    if command is None:
        raise unknown(names[0], commands)
    done = subprocess.run([program_of(command, place), "--help"], env=caller_environment(place, started_as),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace", check=False)
    sys.stdout.write(as_typed(done.stdout, command, commands))
    return done.returncode


def run(started_as: str, arguments: List[str]) -> int:
    place = find_place(started_as)
    commands = read_list(place.list_path)
    if not arguments:
        print(overview(commands), file=sys.stderr)
        return CALLERS_MISTAKE
    name, rest = arguments[0], arguments[1:]
    if name in ("help", "--help", "-h"):
        return show_help(rest, commands, place, started_as)
    if name == "--version":
        print(f"neptune version {commands.version}")
        return OK
    if name.startswith("-"):
        raise Failure(CALLERS_MISTAKE, f"there is no flag '{name}' before the command; flags of a command follow it: "
                                       "neptune COMMAND --flag. Here are --help and --version.")
    command = commands.find(name)
    if command is None:
        raise unknown(name, commands)
    if rest in (["--help"], ["-h"]):
        return show_help([name], commands, place, started_as)
    become(command, place, started_as, rest)
    return FAILED  # become() does not return


def main() -> int:
    try:
        return run(sys.argv[0], sys.argv[1:])
    except Failure as failure:
        print(f"neptune: {failure}", file=sys.stderr)
        return failure.status
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


if __name__ == "__main__":
    sys.exit(main())

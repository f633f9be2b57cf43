"""What the tools that are Python programs have in common: flags, taken and shown as tools/terminal does for the others, and
where the source tree is."""

import os
import re
import sys
from typing import Dict, List, NamedTuple, Optional, Tuple, Union

from neptune import LIST_NAME, VERSION_LINE, find_place, read_list, Failure

CALLERS_MISTAKE = 2
Value = Union[bool, int, str]


class Flag(NamedTuple):
    name: str
    default: Value  # its type is the flag's
    description: str


def source_root() -> Optional[str]:
    """The source tree that this file is of, or that `bazel run` names; None in an installation."""
    here = os.path.dirname(os.path.realpath(__file__))
    root = os.environ.get("BUILD_WORKSPACE_DIRECTORY") or os.path.dirname(os.path.dirname(here))
    return root if os.path.exists(os.path.join(root, "WORKSPACE")) else None


def help_text(usage: str, flags: List[Flag]) -> str:
    types = {bool: "bool", int: "int32", str: "string"}
    lines = [usage, "", "Flags:"]
    for flag in sorted(flags):
        default = str(flag.default).lower() if isinstance(flag.default, bool) else str(flag.default) or "none"
        lines += [f"  --{flag.name}  ({types[type(flag.default)]}, default {default})", f"      {flag.description}"]
    return "\n".join(lines) + "\n"


def _value(flag: Flag, given: str) -> Value:
    """Raises ValueError with what is allowed."""
    if isinstance(flag.default, bool):
        if given not in ("", "true", "false", "1", "0"):
            raise ValueError("true or false")
        return given in ("", "true", "1")
    if isinstance(flag.default, int):
        if not re.fullmatch(r"-?\d{1,9}", given):
            raise ValueError("a whole number")
        return int(given)
    return given


def _version() -> str:
    """As Bazel or the installation has it beside the program."""
    for place in (os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), LIST_NAME), None):
        try:
            return read_list(place or find_place(sys.argv[0]).list_path).version
        except Failure:
            continue
    return "unknown"


def _fail(tool: str, message: str) -> None:
    print(f"{tool}: {message}; try --help", file=sys.stderr)
    sys.exit(CALLERS_MISTAKE)


def parse(tool: str, usage: str, flags: List[Flag], arguments: List[str]) -> Tuple[Dict[str, Value], List[str]]:
    """The values of all flags, and the other arguments. Ends the process for --help, --version and mistakes."""
    known = {flag.name: flag for flag in flags}
    values: Dict[str, Value] = {flag.name: flag.default for flag in flags}
    rest: List[str] = []
    for number, argument in enumerate(arguments):
        if argument == "--":
            return values, rest + arguments[number + 1:]
        if argument in ("--help", "-h"):
            sys.stdout.write(help_text(usage, flags))
            sys.exit(0)
        if argument == "--version":
            print(f"{tool} {VERSION_LINE.split()[2]} {_version()}")
            sys.exit(0)
        match = re.fullmatch(r"--?(\w+)(=(.*))?", argument, re.DOTALL)
        if match is None:
            if argument.startswith("-") and argument != "-":
                _fail(tool, f"'{argument}' is not a flag")
            rest.append(argument)
            continue
        flag = known.get(match[1])
        if flag is None:
            _fail(tool, f"unknown flag '{match[1]}'; known are {', '.join('--' + name for name in sorted(known))}")
        if match[2] is None and not isinstance(flag.default, bool):
            _fail(tool, f"--{flag.name} needs a value, --{flag.name}=VALUE")
        try:
            values[flag.name] = _value(flag, match[3] or "")
        except ValueError as error:
            _fail(tool, f"--{flag.name}={match[3]}: {error} is wanted")
    return values, rest

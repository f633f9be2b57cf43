"""The form in which tools/terminal prints `--help`, read strictly: the usage, then each flag with type, default and
description.

    ...usage...
    <empty line>
    Flags:
      --NAME  (TYPE, default VALUE)
          DESCRIPTION

Whatever else is in it raises NotInForm with the line, so that no flag is left out of completions and manuals unnoticed.
"""

import re
from typing import List, NamedTuple

TYPES = ("bool", "int32", "uint32", "int64", "uint64", "double", "string")
_HEADING = "Flags:"
_FLAG = re.compile(r"  --(?P<name>[a-z][a-z0-9_]*)  \((?P<type>%s), default (?P<default>\S|\S.*\S)\)" % "|".join(TYPES))
_DESCRIPTION = re.compile(r"      (?P<text>\S.*)")
_USAGE_COLUMNS_MAX = 300


class Flag(NamedTuple):
    name: str
    type: str
    default: str  # "none" if it is empty
    description: str

    @property
    def takes_value(self) -> bool:
        return self.type != "bool"


class Help(NamedTuple):
    usage: List[str]  # lines; the first one says what the program does
    flags: List[Flag]


class NotInForm(Exception):
    pass


def parse_help(text: str) -> Help:
    lines = text.split("\n")
    if lines.pop() != "":
        raise NotInForm("the last line does not end")
    if lines.count(_HEADING) != 1:
        raise NotInForm(f"{lines.count(_HEADING)} lines are '{_HEADING}', not one")
    heading = lines.index(_HEADING)
    usage, rest = lines[:heading], lines[heading + 1:]
    if not usage or usage.pop() != "" or not usage or not usage[0] or not usage[-1]:
        raise NotInForm("the usage is not followed by one empty line, or it is empty")
    for number, line in enumerate(usage, start=1):
        if "\t" in line or not line.isprintable() or len(line) > _USAGE_COLUMNS_MAX:
            raise NotInForm(f"line {number}: a control character, or longer than {_USAGE_COLUMNS_MAX} columns")
    flags = [_flag(rest[i: i + 2], heading + 2 + i) for i in range(0, len(rest), 2)]
    names = [flag.name for flag in flags]
    if len(set(names)) != len(names):
        raise NotInForm("a flag is there twice")
    return Help(usage, flags)


def _flag(lines: List[str], number: int) -> Flag:
    head = _FLAG.fullmatch(lines[0])
    if head is None:
        raise NotInForm(f"line {number}: not '  --NAME  (TYPE, default VALUE)': {lines[0]!r}")
    described = _DESCRIPTION.fullmatch(lines[1]) if len(lines) == 2 else None
    if described is None or not described["text"].isprintable():
        raise NotInForm(f"line {number + 1}: not the description of --{head['name']}")
    return Flag(head["name"], head["type"], head["default"], described["text"])

"""Manual pages of the program `neptune` and its commands, in mdoc, from the commands and their programs' --help."""

import re
import textwrap
from typing import Dict, List

from help_form import Flag, Help
from neptune import Command, CommandList, as_typed

# Of the form of the pages: one date for all, so that equal sources make equal pages.
_DATE = "November 28, 2026"
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9-])")


_COLUMNS_MAX = 78


def text(words: str) -> str:
    """Running text: each sentence on lines of its own, nothing in it a macro."""
    return "\n".join(_line(line) for sentence in _SENTENCE_END.split(words.strip())
                     for line in textwrap.wrap(sentence, _COLUMNS_MAX, break_long_words=False, break_on_hyphens=False))


def _line(line: str) -> str:
    line = line.rstrip().replace("\\", "\\e")
    return "\\&" + line if line.startswith((".", "'")) else line


def _head(name: str, summary: str) -> List[str]:
    return [f".Dd {_DATE}", f".Dt {name.upper()} 1", ".Os", ".Sh NAME", f".Nm {name}", f".Nd {_line(summary)}"]


def _description(usage: List[str]) -> List[str]:
    """Lines that begin with a space are shown as they are, others are running text."""
    made: List[str] = []
    paragraph: List[str] = []
    shown: List[str] = []

    def end() -> None:
        if paragraph:
            made.extend(([".Pp"] if made else []) + [text(" ".join(paragraph))])
        if shown:
            made.extend([".Bd -literal", *map(_line, shown), ".Ed"])
        paragraph.clear()
        shown.clear()
    for line in usage:
        if not line.strip():
            end()
        elif line.startswith(" "):
            if paragraph:
                end()
            shown.append(line)
        else:
            if shown:
                end()
            paragraph.append(line)
    end()
    return made


def _option(flag: Flag) -> List[str]:
    value = f" Ns = Ns Ar {flag.type}" if flag.takes_value else ""
    lines = [f".It Fl Fl {flag.name}{value}", text(flag.description[0].upper() + flag.description[1:] + ".")]
    states_default = "default" in flag.description.lower()
    if flag.takes_value and flag.default != "none" and not states_default:
        lines.append(_line(f"Default: {flag.default}."))
    if not flag.takes_value and flag.default == "true":
        lines += ["Default: true;", f".Fl Fl no{flag.name}", "turns it off."]
    return lines


def command_page(command: Command, program_help: Help, commands: CommandList) -> str:
    usage = as_typed("\n".join(program_help.usage), command, commands).split("\n")
    name = f"neptune-{command.name}"
    lines = _head(name, command.summary)
    lines += [".Sh SYNOPSIS", ".Nm neptune", f".Cm {command.name}"]
    lines += [f".Op Cm {' | '.join(command.words)}"] if command.words else []
    lines += [".Op Fl Fl Ns Ar flag Ns = Ns Ar value ...", ".Op Ar argument ..."]
    lines += [".Sh DESCRIPTION", *_description(usage)]
    if program_help.flags:
        lines += [".Sh OPTIONS", ".Bl -tag -width Ds"]
        for flag in program_help.flags:
            lines += _option(flag)
        lines.append(".El")
    lines += [".Sh EXIT STATUS",
              text("0 if it is done, 1 if it failed, 2 if the arguments are wrong, unless the description says otherwise."),
              ".Sh SEE ALSO", ".Xr neptune 1"]
    return "\n".join(lines) + "\n"


def overview_page(commands: CommandList) -> str:
    lines = _head("neptune", "one command for all programs of the search stack")
    lines += [".Sh SYNOPSIS", ".Nm", ".Ar command", ".Op Ar argument ...", ".Nm", ".Cm help", ".Op Ar command", ".Nm", ".Fl Fl version",
              ".Sh DESCRIPTION", 
              text("Finds the program of the command and becomes it. Arguments, signals and the exit status are its own.")]
    for group in dict.fromkeys(c.group for c in commands.commands):
        lines += [f".Ss {group}", ".Bl -tag -width Ds"]
        for command in commands.commands:
            if command.group == group:
                lines += [f".It Cm {command.name}", text(command.summary[0].upper() + command.summary[1:] + ".")]
        lines.append(".El")
    lines += [".Sh EXIT STATUS", text("That of the command's program; 1 if the program is not there, 2 if there is no such command."),
              ".Sh SEE ALSO"]
    names = sorted(f"neptune-{c.name}" for c in commands.commands)
    lines += [f".Xr {name} 1{' ,' if name != names[-1] else ''}" for name in names]
    return "\n".join(lines) + "\n"


def pages(commands: CommandList, helps: Dict[str, Help]) -> Dict[str, str]:
    """Texts of all pages by their file names."""
    made = {f"neptune-{c.name}.1": command_page(c, helps[c.name], commands) for c in commands.commands}
    made["neptune.1"] = overview_page(commands)
    return made

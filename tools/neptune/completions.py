"""Completions of the program `neptune` for bash, zsh and fish, from its commands and their flags."""

from typing import Dict, List

from help_form import Flag, Help
from neptune import Command

_DESCRIPTION_COLUMNS_MAX = 80
OWN_FLAGS = ("--help", "--version")
_BANNER = "# Made from tools/neptune/commands.bzl and the --help of each program.\n"


def shortened(text: str) -> str:
    """At most _DESCRIPTION_COLUMNS_MAX columns, cut at a word."""
    if len(text) <= _DESCRIPTION_COLUMNS_MAX:
        return text
    return text[: _DESCRIPTION_COLUMNS_MAX - 4].rsplit(" ", 1)[0] + " ..."


def _quoted(text: str) -> str:
    """One word of a shell script; for bash and zsh."""
    return "'" + text.replace("'", "'\\''") + "'"


def _flag_word(flag: Flag) -> str:
    return f"--{flag.name}" + ("=" if flag.takes_value else "")


def _pattern(command: Command) -> str:
    return "|".join([command.name, *command.also])


_BASH = """_neptune() {
  local current="${COMP_WORDS[COMP_CWORD]}" words='' first=''
  COMPREPLY=()
  # The value of a flag: a file, which bash completes by itself.
  if [[ "$current" == '=' || "${COMP_WORDS[COMP_CWORD - 1]}" == '=' ]]; then return 0; fi
  if [[ "$COMP_CWORD" -eq 1 ]]; then
    words=@COMMANDS@
  else
    case "${COMP_WORDS[1]}" in
@CASES@
    esac
    if [[ "$COMP_CWORD" -eq 2 ]]; then words="$first $words"; fi
  fi
  if [[ "$current" != -* && "$COMP_CWORD" -gt 1 ]]; then
    words="${first}"
    if [[ "$COMP_CWORD" -ne 2 ]]; then return 0; fi
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  # A flag's value follows without a space. Outside of a completion there is nothing to set.
  if [[ "${#COMPREPLY[@]}" -eq 1 && "${COMPREPLY[0]}" == *= ]]; then compopt -o nospace 2>/dev/null || true; fi
}
complete -o default -F _neptune neptune
"""


def bash(commands: List[Command], helps: Dict[str, Help]) -> str:
    names = [c.name for c in commands] + ["help"]
    cases = [f"      help) first={_quoted(' '.join(c.name for c in commands))} ;;"]
    for command in commands:
        flags = " ".join([_flag_word(flag) for flag in helps[command.name].flags] + ["--help", "--version"])
        first = f"first={_quoted(' '.join(command.words))} " if command.words else ""
        cases.append(f"      {_pattern(command)}) {first}words={_quoted(flags)} ;;")
    return _BANNER + _BASH.replace("@COMMANDS@", _quoted(" ".join([*names, *OWN_FLAGS]))).replace("@CASES@", "\n".join(cases))


_ZSH = """#compdef neptune
@BANNER@_neptune() {
  local -a commands
  commands=(
@COMMANDS@
  )
  if (( CURRENT == 2 )); then
    _describe -t commands command commands
    return
  fi
  local command="$words[2]"
  shift words
  (( CURRENT-- ))
  case "$command" in
    help) _describe -t commands command commands ;;
@CASES@
    *) _files ;;
  esac
}
_neptune "$@"
"""


def _zsh_text(text: str) -> str:
    for special in "\\[]:":
        text = text.replace(special, "\\" + special)
    return text


def _zsh_flag(flag: Flag) -> str:
    text = f"[{_zsh_text(shortened(flag.description))}]"
    return _quoted(f"--{flag.name}=-{text}:{flag.type}:_files" if flag.takes_value else f"--{flag.name}{text}")


def zsh(commands: List[Command], helps: Dict[str, Help]) -> str:
    listed = [(c.name, c.summary) for c in commands] + [("help", "what a command does, and its flags")]
    cases = []
    for command in commands:
        arguments = [_zsh_flag(flag) for flag in helps[command.name].flags]
        arguments += [_quoted("--help[what it does]"), _quoted("--version[its version]")]
        if command.words:
            arguments.append(_quoted(f"1:what:({' '.join(command.words)})"))
        arguments.append(_quoted("*:file:_files"))
        lines = " \\\n        ".join(["_arguments", *arguments])
        cases.append(f"    {_pattern(command)})\n      {lines}\n      ;;")
    names = "\n".join("    " + _quoted(f"{name}:{_zsh_text(summary)}") for name, summary in listed)
    return _ZSH.replace("@BANNER@", _BANNER).replace("@COMMANDS@", names).replace("@CASES@", "\n".join(cases))


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish(commands: List[Command], helps: Dict[str, Help]) -> str:
    names = " ".join([c.name for c in commands] + [other for c in commands for other in c.also] + ["help"])
    none_yet = _fish_quoted(f"not __fish_seen_subcommand_from {names}")
    lines = []
    for command in commands:
        lines.append(f"complete -c neptune -n {none_yet} -f -a {command.name} -d {_fish_quoted(command.summary)}")
    lines.append(f"complete -c neptune -n {none_yet} -f -a help -d 'what a command does, and its flags'")
    lines.append(f"complete -c neptune -n {none_yet} -f -l version -d 'the version'")
    lines.append("complete -c neptune -n '__fish_seen_subcommand_from help' -f -a "
                 + _fish_quoted(" ".join(c.name for c in commands)))
    for command in commands:
        seen = _fish_quoted(f"__fish_seen_subcommand_from {' '.join([command.name, *command.also])}")
        if command.words:
            lines.append(f"complete -c neptune -n {seen} -f -a {_fish_quoted(' '.join(command.words))}")
        for flag in helps[command.name].flags:
            value = " -r" if flag.takes_value else ""
            lines.append(f"complete -c neptune -n {seen} -l {flag.name}{value} -d {_fish_quoted(shortened(flag.description))}")
    return _BANNER + "\n".join(lines) + "\n"

"""Makes the completions and manual pages of the program `neptune`.

    make_pages.py LIST FOLDER NAME=HELP_FILE ...

Writes FOLDER/completions/{neptune.bash,_neptune,neptune.fish} and FOLDER/man/*.1. Status: 0 written; 1 a help is not in
the form of tools/terminal.
"""

import os
import sys
from typing import Dict

import completions
import man_pages
from help_form import Help, NotInForm, parse_help
from neptune import read_list


def read_helps(arguments) -> Dict[str, Help]:
    helps = {}
    for argument in arguments:
        name, path = argument.split("=", 1)
        with open(path, encoding="utf-8") as file:
            try:
                helps[name] = parse_help(file.read())
            except NotInForm as error:
                raise NotInForm(f"the help of '{name}': {error}") from error
    return helps


def main() -> int:
    commands = read_list(sys.argv[1])
    folder = sys.argv[2]
    try:
        helps = read_helps(sys.argv[3:])
    except NotInForm as error:
        print(f"make_pages: {error}", file=sys.stderr)
        return 1
    texts = {f"completions/{name}": shell(commands.commands, helps)
             for name, shell in (("neptune.bash", completions.bash), ("_neptune", completions.zsh),
                                 ("neptune.fish", completions.fish))}
    texts.update({f"man/{name}": page for name, page in man_pages.pages(commands, helps).items()})
    for name, content in texts.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
    return 0


if __name__ == "__main__":
    sys.exit(main())

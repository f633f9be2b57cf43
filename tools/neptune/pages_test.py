"""The completions and manual pages, as shells and mandoc take them.

    pages_test.py LIST PAGE ...

Shells that are not installed are skipped, with the reason.
"""

import os
import shutil
import subprocess
import sys
import unittest
from typing import List

import help_form
import man_pages
import neptune

LIST, PAGES = sys.argv[1], {os.path.basename(path): os.path.abspath(path) for path in sys.argv[2:]}
HELP = """Makes a thing.

  thing --out=F    make it

Flags:
  --out  (string, default none)
      where
  --dry  (bool, default false)
      only say so
"""


def run(*words: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60, **options)


class HelpFormTest(unittest.TestCase):
    def test_what_tools_print(self) -> None:
        parsed = help_form.parse_help(HELP)
        self.assertEqual(["Makes a thing.", "", "  thing --out=F    make it"], parsed.usage)
        self.assertEqual([("out", "string", "none", "where"), ("dry", "bool", "false", "only say so")],
                         [tuple(flag) for flag in parsed.flags])

    def test_anything_else_is_refused(self) -> None:
        for wrong in ("", "\n", HELP[:-1], HELP + "\n", HELP + "more\n", HELP.replace("Flags:", "Options:"),
                      HELP + "Flags:\n", HELP.replace("bool", "boolean"), HELP.replace("  --dry", " --dry"),
                      HELP.replace("dry", "out"), HELP.replace("      only say so\n", ""),
                      HELP.replace("only say so", "only\nsay so"), HELP.replace("none)", ")"), HELP.replace("none)", "none"),
                      HELP.replace("it\n\n", "it\n"), HELP.replace("Makes", "Makes\t"), HELP.replace("Makes", "\x1b[1mMakes"),
                      HELP.replace("--out ", "--Out "), HELP.replace("Makes a thing.", "")):
            with self.subTest(wrong), self.assertRaises(help_form.NotInForm):
                help_form.parse_help(wrong)


class BashTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.commands = neptune.read_list(LIST)

    def complete(self, *words: str) -> List[str]:
        script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _neptune && '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        done = run("bash", "-euc", script, "bash", PAGES["neptune.bash"], *words)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        return done.stdout.split()

    def test_commands(self) -> None:
        names = [command.name for command in self.commands.commands]
        self.assertEqual(sorted([*names, "help", "--help", "--version"]), sorted(self.complete("neptune", "")))
        self.assertEqual(["search"], self.complete("neptune", "sea"))
        self.assertEqual([], self.complete("neptune", "xyzzy"))
        self.assertEqual(["replay"], self.complete("neptune", "help", "repl"))

    def test_flags_of_a_command(self) -> None:
        self.assertEqual(["--count=", "--color="], sorted(self.complete("neptune", "search", "--co"), reverse=True))
        self.assertEqual(["--json"], self.complete("neptune", "search", "a query", "--js"))
        self.assertEqual(["--status"], self.complete("neptune", "cluster", "--statu"))
        self.assertIn("--help", self.complete("neptune", "cluster", "--"))

    def test_first_words_of_a_command(self) -> None:
        self.assertEqual(["list", "report", "run"], sorted(self.complete("neptune", "lab", "")))
        self.assertEqual([], self.complete("neptune", "lab", "run", ""))
        self.assertEqual([], self.complete("neptune", "search", ""))

    def test_values_and_unknown_commands_are_left_to_the_shell(self) -> None:
        self.assertEqual([], self.complete("neptune", "corpus", "--out", "="))
        self.assertEqual([], self.complete("neptune", "corpus", "--out", "=", "/tm"))
        self.assertEqual([], self.complete("neptune", "xyzzy", "--"))

    def test_another_name_of_a_command(self) -> None:
        self.assertEqual(self.complete("neptune", "trace", "--"), self.complete("neptune", "make_trace", "--"))


class OtherShellsTest(unittest.TestCase):
    """Their syntax alone."""

    def check(self, shell: str, page: str) -> None:
        if shutil.which(shell) is None:
            self.skipTest(f"{shell} is not installed")
        done = run(shell, "-n", PAGES[page])
        self.assertEqual((0, "", ""), (done.returncode, done.stdout, done.stderr))

    def test_zsh(self) -> None:
        self.check("zsh", "_neptune")

    def test_fish(self) -> None:
        self.check("fish", "neptune.fish")

    def test_every_command_and_first_word_is_in_them(self) -> None:
        for page in ("_neptune", "neptune.fish"):
            with open(PAGES[page], encoding="utf-8") as file:
                text = file.read()
            for command in neptune.read_list(LIST).commands:
                for word in [command.name, command.summary, *command.also, *command.words]:
                    self.assertIn(word, text)


class ManualTest(unittest.TestCase):
    def lint(self, path: str) -> List[str]:
        said = run("mandoc", "-T", "lint", "-W", "style", path).stdout.splitlines()
        return [line for line in said if "referenced manual not found" not in line]  # they are not installed here

    def test_mandoc_finds_nothing(self) -> None:
        names = [name for name in PAGES if name.endswith(".1")]
        commands = neptune.read_list(LIST).commands
        self.assertEqual(sorted(["neptune.1"] + [f"neptune-{c.name}.1" for c in commands]), sorted(names))
        for name in names:
            with self.subTest(name):
                self.assertEqual([], self.lint(PAGES[name]))

    def test_flags_are_in_them(self) -> None:
        shown = run("mandoc", "-T", "utf8", "-O", "width=100", PAGES["neptune-search.1"]).stdout.replace("\b_", "")
        for expected in ("--target=string", "Default: http://127.0.0.1:8080.", 'neptune search "hash table iterator"'):
            self.assertIn(expected, run("col", "-b", input=shown).stdout if shutil.which("col") else shown)

    def test_text_that_looks_like_a_macro(self) -> None:
        self.assertEqual("\\&.Dd x", man_pages.text(".Dd x"))
        self.assertEqual("\\&'x", man_pages.text("'x"))
        self.assertEqual("a\\ed", man_pages.text("a\\d"))
        self.assertEqual("One.\nTwo.", man_pages.text("One. Two."))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

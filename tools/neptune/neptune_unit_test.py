"""Tests of the program `neptune` over a list and programs of their own."""

import os
import signal
import subprocess
import tempfile
import unittest

import neptune

HERE = os.path.dirname(os.path.abspath(__file__))
LIST = """# neptune version 1.2.3
search\t\ttools/search/search\tCluster\t\tsend a query
trace\tmake_trace\ttools/trace/make_trace\tLoad\t\tmake traces
lab\t\ttools/lab/lab\tResearch\tlist run\trun experiments
"""


class ListTest(unittest.TestCase):
    def test_fields(self) -> None:
        commands = neptune.parse_list(LIST)
        self.assertEqual("1.2.3", commands.version)
        self.assertEqual(["search", "trace", "lab"], [c.name for c in commands.commands])
        self.assertEqual(["list", "run"], commands.commands[2].words)
        self.assertEqual("trace", commands.find("make_trace").name)
        self.assertIsNone(commands.find("make"))

    def test_a_malformed_line_is_refused_with_its_number(self) -> None:
        for bad in ("a\tb\n", "a\t\tp\tg\t\t\n", "\t\tp\tg\t\ts\n", "a\t\tp\tg\t\ts\tmore\n"):
            with self.subTest(bad), self.assertRaisesRegex(ValueError, "line 5 "):
                neptune.parse_list(LIST + bad)

    def test_similar_names(self) -> None:
        commands = neptune.parse_list(LIST)
        self.assertEqual(["search"], commands.similar("serach"))
        self.assertEqual(["search"], commands.similar("SEARCH"))
        self.assertEqual(["search"], commands.similar("se"))
        self.assertEqual(["trace"], commands.similar("make_trac"))
        self.assertEqual(["help"], commands.similar("hlep"))
        self.assertEqual([], commands.similar("xyzzy"))

    def test_help_is_shown_as_one_types_it_here(self) -> None:
        commands = neptune.parse_list(LIST)
        trace = commands.find("trace")
        for program, here in (("  bazel run //tools:make_trace -- --out=F\n", "  neptune trace --out=F\n"),
                              ("  make_trace --out=F\n", "  neptune trace --out=F\n"),
                              ("  bazel run //tools:search\n", "  neptune search\n"),
                              ("  bazel run //tools:search     all\n", "  neptune search     all\n"),
                              ("  bazel run //tools:other -- x\n", "  bazel run //tools:other -- x\n"),
                              ("  search for traces\n", "  search for traces\n"),
                              ("  traces of\nmake_trace is\n", "  traces of\nmake_trace is\n")):
            self.assertEqual(here, neptune.as_typed(program, trace, commands))


class InstalledTest(unittest.TestCase):
    """The program in bin/, what it starts in libexec/neptune/."""

    def setUp(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.root = self._folder.name
        self.libexec = os.path.join(self.root, "libexec", "neptune")
        os.makedirs(self.libexec)
        os.makedirs(os.path.join(self.root, "bin"))
        self.program = os.path.join(self.root, "bin", "neptune")
        with open(os.path.join(HERE, "neptune.py"), encoding="utf-8") as file:
            self.write(self.program, file.read())
        self.write(os.path.join(self.libexec, neptune.LIST_NAME), LIST)

    def tearDown(self) -> None:
        self._folder.cleanup()

    def write(self, path: str, text: str) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)

    def install(self, name: str, script: str) -> None:
        self.write(os.path.join(self.libexec, name), "#!/bin/sh\n" + script)

    def run_it(self, *arguments: str, program: str = "") -> subprocess.CompletedProcess:
        return subprocess.run([program or self.program, *arguments], capture_output=True, text=True, check=False,
                              timeout=60)

    def test_arguments_and_status_pass_through(self) -> None:
        self.install("search", 'printf "<%s>" "$@"; echo bad >&2; exit 7\n')
        done = self.run_it("search", "two words", "", "--flag=1", "--")
        self.assertEqual((7, "<two words><><--flag=1><-->", "bad\n"), (done.returncode, done.stdout, done.stderr))

    def test_another_name_of_a_command(self) -> None:
        self.install("make_trace", "echo made")
        self.assertEqual("made\n", self.run_it("make_trace").stdout)
        self.assertEqual("made\n", self.run_it("trace").stdout)

    def test_through_a_symbolic_link(self) -> None:
        self.install("search", "echo found")
        link = os.path.join(self.root, "n")
        os.symlink("bin/neptune", link)
        self.assertEqual("found\n", self.run_it("search", program=link).stdout)

    def test_the_program_takes_the_process(self) -> None:
        self.install("search", "echo $$; exec cat")
        with subprocess.Popen([self.program, "search"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
            self.assertEqual(child.pid, int(child.stdout.readline()))
            child.send_signal(signal.SIGTERM)
            self.assertEqual(-signal.SIGTERM, child.wait(60))

    def test_a_closed_pipe_ends_the_program_as_ever(self) -> None:
        self.install("search", "echo $$ >&2; while :; do echo line; done")
        with subprocess.Popen([self.program, "search"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            child.stdout.readline()
            child.stdout.close()
            self.assertEqual(-signal.SIGPIPE, child.wait(60))

    def test_an_unknown_command_says_what_is_possible(self) -> None:
        done = self.run_it("serach")
        self.assertEqual((2, ""), (done.returncode, done.stdout))
        self.assertIn("there is no command 'serach'; did you mean 'search'?", done.stderr)
        self.assertIn("Commands: lab, search, trace, help.", done.stderr)

    def test_a_flag_before_the_command(self) -> None:
        done = self.run_it("--json", "search")
        self.assertEqual(2, done.returncode)
        self.assertIn("there is no flag '--json' before the command", done.stderr)

    def test_a_program_that_is_not_installed(self) -> None:
        done = self.run_it("lab")
        self.assertEqual(1, done.returncode)
        self.assertIn("'lab' is not installed here", done.stderr)

    def test_version_and_overview(self) -> None:
        self.assertEqual("neptune version 1.2.3\n", self.run_it("--version").stdout)
        for arguments in (["help"], ["--help"], ["-h"], ["help", "help"]):
            done = self.run_it(*arguments)
            self.assertEqual(0, done.returncode)
            for expected in ("Cluster\n  search  send a query\n", "Load\n  trace   make traces\n"):
                self.assertIn(expected, done.stdout)
        done = self.run_it()
        self.assertEqual((2, ""), (done.returncode, done.stdout))
        self.assertIn("neptune help [COMMAND]", done.stderr)

    def test_help_of_a_command(self) -> None:
        self.install("search", 'echo "bazel run //tools:search -- $1"')
        for arguments in (["help", "search"], ["search", "--help"], ["search", "-h"]):
            self.assertEqual("neptune search --help\n", self.run_it(*arguments).stdout)
        self.assertEqual(2, self.run_it("help", "serach").returncode)
        self.assertEqual(2, self.run_it("help", "search", "lab").returncode)

    def test_without_a_list_it_says_where_it_looked(self) -> None:
        os.remove(os.path.join(self.libexec, neptune.LIST_NAME))
        done = self.run_it("search")
        self.assertEqual(1, done.returncode)
        self.assertIn(os.path.join("libexec", "neptune", neptune.LIST_NAME), done.stderr)


if __name__ == "__main__":
    unittest.main()

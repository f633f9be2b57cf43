"""The built program with the real list and programs.

    neptune_test.py NEPTUNE VERSION_HEADER
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from typing import List

NEPTUNE, VERSION_HEADER = (os.path.abspath(path) for path in sys.argv[1:3])


def neptune(*arguments: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run([NEPTUNE, *arguments], capture_output=True, text=True, check=False, timeout=60, **options)


def listed() -> List[str]:
    return re.findall(r"^  (\w+)  ", neptune("help").stdout, re.MULTILINE)


class NeptuneTest(unittest.TestCase):
    def test_every_command_starts_its_program(self) -> None:
        names = listed()
        self.assertIn("search", names)
        self.assertGreater(len(names), 15)
        for name in names:
            with self.subTest(name):
                done = neptune("help", name)
                self.assertEqual((0, ""), (done.returncode, done.stderr))
                self.assertIn("\nFlags:\n", done.stdout)
                self.assertNotRegex(done.stdout, r"bazel run //tools:%s\b" % name)

    def test_flags_reach_the_program(self) -> None:
        for name in ("search", "trace", "index", "up"):
            with self.subTest(name):
                refused = neptune(name, "--no_such_flag")
                self.assertEqual(2, refused.returncode, refused.stderr)
                self.assertIn("no_such_flag", refused.stderr)

    def test_version(self) -> None:
        with open(VERSION_HEADER, encoding="utf-8") as file:
            version = re.search(r'kVersion\[\] = "(.*)"', file.read())[1]
        self.assertEqual(f"neptune version {version}\n", neptune("--version").stdout)
        self.assertEqual(f"search version {version}", neptune("search", "--version").stdout.strip())

    def test_paths_are_relative_to_the_caller(self) -> None:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("BUILD_W")}
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "page.jsonl"), "w", encoding="utf-8") as file:
                file.write('{"url":"a","title":"A page","text":"Enough words that the page is not empty, they say."}\n')
            done = neptune("corpus", "--input=page.jsonl", "--out=made.jsonl", cwd=folder, env=environment)
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertIn("made.jsonl", os.listdir(folder))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

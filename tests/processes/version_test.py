"""Every program prints the version of the project with --version, and the changelog has a section for it.

    version_test.py VERSION_HEADER CHANGELOG PROGRAM...
"""

import re
import subprocess
import sys
import unittest

HEADER, CHANGELOG, PROGRAMS = sys.argv[1], sys.argv[2], sys.argv[3:]
TIME_LIMIT_S = 30


def text_of(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


class VersionTest(unittest.TestCase):
    def setUp(self) -> None:
        self.version = re.search(r'kVersion\[\] = "(\d+\.\d+\.\d+)"', text_of(HEADER))[1]

    def test_programs_print_it(self) -> None:
        self.assertTrue(PROGRAMS)
        for program in PROGRAMS:
            with self.subTest(program=program):
                done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stdout, r"version %s\b" % re.escape(self.version))

    def test_the_changelog_has_it(self) -> None:
        self.assertRegex(text_of(CHANGELOG), r"(?m)^## %s\b" % re.escape(self.version))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

"""Tests of what doctor makes of a machine."""

import os
import socket
import subprocess
import sys
import unittest

import doctor
from doctor import MISSING, NOTE, OK

HERE = os.path.dirname(os.path.abspath(__file__))


class JudgementTest(unittest.TestCase):
    def test_packages(self) -> None:
        findings = doctor.judge_packages({"packages.txt": ["g++", "git"], "packages_test.txt": ["chromium"],
                                          "packages_fuzz.txt": []}, True)
        self.assertEqual([(MISSING, "packages to build and run: g++ git"), (NOTE, "packages for the tests: chromium"),
                          (OK, "packages for ./tools/check fuzz")], [finding[:2] for finding in findings])
        self.assertIn("apt-get install -y --no-install-recommends g++ git", findings[0].remedy)
        self.assertEqual([NOTE], [finding.level for finding in doctor.judge_packages({}, False)])
        self.assertEqual(["a", "b"], doctor.names_of("# c\na\n\nb  # why\n"))

    def test_amounts(self) -> None:
        gib = 1 << 30
        for finding, level in ((doctor.judge_memory(3 * gib, 2), OK), (doctor.judge_memory(gib, 2), MISSING),
                               (doctor.judge_memory(0, 2), MISSING), (doctor.judge_disk(50 * gib, "/x"), OK),
                               (doctor.judge_disk(gib, "/x"), MISSING), (doctor.judge_descriptors(1024), MISSING),
                               (doctor.judge_descriptors(-1), OK), (doctor.judge_descriptors(1 << 20), OK)):
            self.assertEqual((level, level != OK), (finding.level, bool(finding.remedy)), finding)

    def test_kernel_and_machine(self) -> None:
        self.assertEqual([OK], [f.level for f in doctor.judge_kernel({"vm.max_map_count": 65_530, "vm.overcommit_memory": 0})])
        self.assertEqual([OK], [f.level for f in doctor.judge_kernel({"vm.max_map_count": None})])
        self.assertEqual([MISSING, MISSING],
                         [f.level for f in doctor.judge_kernel({"vm.max_map_count": 1000, "vm.overcommit_memory": 2})])
        self.assertEqual(OK, doctor.judge_machine("Linux", "x86_64").level)
        self.assertEqual(MISSING, doctor.judge_machine("Linux", "aarch64").level)

    def test_the_report_has_the_remedies_and_a_status(self) -> None:
        lines = []
        self.assertEqual(0, doctor.report([doctor.Finding(NOTE, "a", "do b")], lines.append))
        self.assertEqual(["note     a", "         do b", "nothing is missing"], lines)
        self.assertEqual(1, doctor.report([doctor.Finding(OK, "a"), doctor.Finding(MISSING, "b", "c")], lines.append))
        self.assertEqual("1 of 2 are missing; the remedy stands below each", lines[-1])


class ProgramTest(unittest.TestCase):
    def run_it(self, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, "-B", os.path.join(HERE, "doctor.py"), *arguments], capture_output=True,
                              text=True, check=False, timeout=60)

    def test_on_this_machine(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            done = self.run_it(f"--port={port}")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        for expected in (f"note     port {port} of 127.0.0.1 is in use", "of memory available", "GiB free for", "descriptors: "):
            self.assertIn(expected, done.stdout)

    def test_wrong_arguments(self) -> None:
        for wrong in (["x"], ["--port=99999"], ["--port=x"], ["--none"]):
            self.assertEqual(2, self.run_it(*wrong).returncode)


if __name__ == "__main__":
    unittest.main()

"""Tests of coverage_report.py: reports as gcov writes them, and the rows that are made of them."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import coverage_report  # noqa: E402


def report(path, counts):
    return {"files": [{"file": path, "lines": [{"line_number": n, "count": c} for n, c in counts.items()]}]}


class CoverageReportTest(unittest.TestCase):
    def merged(self, *reports, folders=("cache",)):
        found = {}
        for one in reports:
            coverage_report.merge(found, one, folders)
        return found

    def test_a_line_is_covered_if_it_ran_in_any_object(self):
        found = self.merged(report("cache/a.h", {1: 0, 2: 0}), report("./cache/a.h", {1: 3, 3: 0}))
        self.assertEqual(found, {"cache/a.h": {1: True, 2: False, 3: False}})

    def test_tests_and_foreign_files_are_left_out(self):
        paths = ("/usr/include/c++/12/map", "bazel-out/k8/bin/cache/a.pb.cc", "cache/a_test.cc", "caches/a.cc", "index/a.cc",
                 "cache/testing/a.cc", "cache/a_benchmark.cc", "cache/a_conformance.h", "cache/a_fuzz.cc")
        self.assertEqual(self.merged(*(report(path, {1: 1}) for path in paths)), {})

    def test_rows_of_folders_and_of_files(self):
        found = self.merged(report("cache/a.cc", {1: 1, 2: 0}), report("cache/b.cc", {1: 1, 2: 1}),
                            report("cache/memory/c.cc", {1: 0}))
        self.assertEqual([row.split() for row in coverage_report.table(found, by_file=False)], [
            ["75.0", "%", "3", "of", "4", "cache"], ["0.0", "%", "0", "of", "1", "cache/memory"],
            ["60.0", "%", "3", "of", "5", "all"]])
        self.assertEqual([row.split()[-1] for row in coverage_report.table(found, by_file=True)],
                         ["cache/a.cc", "cache/b.cc", "cache/memory/c.cc", "all"])

    def test_a_file_without_lines_has_no_percentage(self):
        self.assertIn("-", str(coverage_report.Share(0, 0)))


if __name__ == "__main__":
    unittest.main()

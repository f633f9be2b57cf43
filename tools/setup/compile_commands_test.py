"""Tests of compile_commands.py: actions as Bazel lists them, and the entries that are made of them."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import compile_commands  # noqa: E402


def action(*arguments):
    return {"arguments": ["/usr/bin/gcc", *arguments]}


class CompileCommandsTest(unittest.TestCase):
    def made(self, *actions):
        return compile_commands.commands({"actions": list(actions)}, "/tree")

    def test_one_entry_for_each_source(self):
        made = self.made(action("-O2", "-c", "b/b.cc", "-o", "b.o"), action("-c", "a/a.cc"), action("-c", "a/a.cc"))
        self.assertEqual([entry["file"] for entry in made], ["a/a.cc", "b/b.cc"])
        self.assertEqual(made[1]["arguments"], ["/usr/bin/gcc", "-O2", "-c", "b/b.cc", "-o", "b.o"])
        self.assertEqual(made[0]["directory"], "/tree")

    def test_the_precompiled_header_is_left_out(self):
        made = self.made(action("-include", "bazel-out/tools/bazel/prelude/precompiled/prelude.h", "-include", "own.h", "-c", "a.cc"))
        self.assertEqual(made[0]["arguments"], ["/usr/bin/gcc", "-include", "own.h", "-c", "a.cc"])

    def test_options_of_gcc_alone_are_left_out(self):
        made = self.made(action("-Wall", "-fno-canonical-system-headers", "-c", "a.cc"))
        self.assertEqual(made[0]["arguments"], ["/usr/bin/gcc", "-Wall", "-c", "a.cc"])

    def test_generated_sources_and_archives_are_left_out(self):
        self.assertEqual(self.made(action("-c", "bazel-out/k8-opt/bin/a.pb.cc"), action("rcsD", "a.lo")), [])


if __name__ == "__main__":
    unittest.main()

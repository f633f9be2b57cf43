"""Programs and modules are built with what makes memory errors hard to use: reads their headers, notes and symbols.

hardening_test.py FILE...   Checks each file, and a program that is compiled here without any of it.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from typing import List

FILES: List[str] = []
BRANCH_TARGET = b"\xf3\x0f\x1e\xfa"  # endbr64


def read(path: str, *options: str) -> str:
    return subprocess.run(["readelf", "--wide", *options, path], capture_output=True, text=True, check=True).stdout


def faults_of(path: str) -> List[str]:
    """What the file lacks."""
    faults = []
    header, segments, dynamic = read(path, "--file-header"), read(path, "--segments"), read(path, "--dynamic")
    symbols = read(path, "--dyn-syms")
    if not re.search(r"Type:\s+DYN", header):
        faults.append("its addresses are fixed (PIE)")
    if "GNU_RELRO" not in segments or not re.search(r"BIND_NOW|FLAGS_1\).*\bNOW\b", dynamic):
        faults.append("its table of functions can be written (RELRO, BIND_NOW)")
    if not re.search(r"GNU_STACK.*\bRW\s", segments):
        faults.append("its stack can be executed")
    if "TEXTREL" in dynamic:
        faults.append("its code is written when it is loaded")
    if "__stack_chk_fail" not in symbols:
        faults.append("stack frames have no protector")
    if not re.search(r"__\w+_chk\b", symbols.replace("__stack_chk_fail", "")):
        faults.append("calls of the C library are not checked (FORTIFY)")
    if "__glibcxx_assert_fail" not in symbols:
        faults.append("containers are not checked (_GLIBCXX_ASSERTIONS)")
    functions = re.findall(r"\bFUNC\s+(?:GLOBAL|WEAK)\s+\w+\s+\d+\s", symbols)
    with open(path, "rb") as file:
        targets = file.read().count(BRANCH_TARGET)
    if targets < max(len(functions) / 2, 20):
        faults.append("places of indirect branches are not marked (CET)")
    return faults


class HardeningTest(unittest.TestCase):
    def test_every_file_has_all_of_it(self):
        self.assertGreater(len(FILES), 1)
        for path in FILES:
            with self.subTest(path):
                self.assertEqual(faults_of(path), [])

    def test_a_program_without_it_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            source, program = os.path.join(folder, "plain.cc"), os.path.join(folder, "plain")
            with open(source, "w", encoding="utf-8") as file:
                file.write("int main() { return 0; }\n")
            subprocess.run(["g++", "-no-pie", "-fno-pie", "-fno-stack-protector", "-fcf-protection=none",
                            "-U_FORTIFY_SOURCE", "-z", "execstack", "-z", "norelro", "-z", "lazy", source, "-o", program],
                           check=True, capture_output=True)
            self.assertEqual(len(faults_of(program)), 7)  # all but the code that is written


if __name__ == "__main__":
    FILES.extend(sys.argv[1:])
    unittest.main(argv=sys.argv[:1])

"""The parameters that modules declare: the READMEs list exactly them, and every shipped spec uses only them."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from typing import List

NEPTUNED = os.path.abspath(sys.argv.pop(1))
FILES = [os.path.abspath(sys.argv.pop(1)) for _ in range(len(sys.argv) - 1)]
MODULES = {os.path.basename(path)[:-len(".so")]: path for path in FILES if path.endswith(".so")}
SPECS = [path for path in FILES if path.endswith(".textproto")]
# The page with the parameters of a module, by the end of its path.
PAGES = {
    "frontend": "frontend/README.md",
    "index_tier": "index/tier/service/README.md",
    "document_server": "docserver/service/README.md",
    "query_cache": "cache/service/README.md",
    "persistent_cache_server": "cache/persistent/README.md",
    "work": "tools/workload/README.md",
}


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    folders = ":".join(sorted({os.path.dirname(path) for path in MODULES.values()}))
    return subprocess.run([NEPTUNED, f"--module_dir={folders}", *arguments], capture_output=True, text=True,
                          check=False, timeout=60)


def declared(module: str) -> List[str]:
    described = run(f"--describe_module={module}")
    assert described.returncode == 0, described.stderr
    return re.findall(r"^(\w+)  ", described.stdout, re.MULTILINE)


def listed(page: str) -> List[str]:
    """The names in the first column of the page's table of parameters."""
    table = re.search(r"^\| parameter \|.*\n\|[-|]+\n((?:\|.*\n)+)", page, re.MULTILINE)
    return [name for row in table[1].splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])] if table else []


def check(text: str) -> "subprocess.CompletedProcess[str]":
    with tempfile.NamedTemporaryFile("w", suffix=".textproto") as spec:
        spec.write(text)
        spec.flush()
        return run(f"--spec={spec.name}", "--check_spec")


class ParametersTest(unittest.TestCase):

    def test_each_page_lists_the_parameters_of_its_module(self) -> None:
        for module, end in PAGES.items():
            path = next(path for path in FILES if path.endswith("/" + end))
            with open(path, encoding="utf-8") as page:
                self.assertEqual(sorted(listed(page.read())), sorted(declared(module)), end)

    def test_every_shipped_spec_is_valid(self) -> None:
        self.assertGreaterEqual(len(SPECS), 15)
        for spec in SPECS:
            done = run(f"--spec={spec}", "--check_spec")
            self.assertEqual((done.returncode, done.stderr), (0, ""), spec)

    def test_a_node_that_others_reach_needs_a_key(self) -> None:
        spec = """name: "x" multicast_group: "239.1.1.1:7000" interface_address: "192.0.2.7"
services { name: "echo" module: "echo" } nodes { name: "a" hosts { service: "echo" } }
"""
        with tempfile.NamedTemporaryFile("w", suffix=".textproto") as file:
            file.write(spec)
            file.flush()
            done = run(f"--spec={file.name}", "--node=a")
            self.assertEqual(done.returncode, 2)
            for part in ("192.0.2.7", "cluster_key_file", "trust_network"):
                self.assertIn(part, done.stderr)
            # The address is of no machine, so the node fails later, and not for lack of a key.
            file.write("trust_network: true\n")
            file.flush()
            done = run(f"--spec={file.name}", "--node=a", "--allow_root")
            self.assertEqual(done.returncode, 1)
            self.assertNotIn("cluster_key_file", done.stderr)

    def test_a_parameter_of_any_service_is_checked(self) -> None:
        spec = """name: "x" multicast_group: "239.1.1.1:7000"
services { name: "cache" module: "query_cache" parameters { key: "%s" value: "%s" } }
services { name: "echo" module: "echo" }
nodes { name: "a" hosts { service: "echo" } }
nodes { name: "b" hosts { service: "cache" } }
"""
        self.assertEqual(check(spec % ("size_mb", "65536")).returncode, 0)
        for name, value, reason in [("size_mb", "65537", "a whole number from 1 to 65536"),
                                    ("size_bm", "1", "implementation, size_mb, server"),
                                    ("implementation", "disk", "memory or redis")]:
            done = check(spec % (name, value))
            self.assertEqual(done.returncode, 2)
            for part in ("'cache'", name, reason):
                self.assertIn(part, done.stderr)

    def test_a_node_does_not_start_with_a_wrong_parameter_of_its_own(self) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".textproto") as spec:
            spec.write('name: "x" multicast_group: "239.1.1.1:7000" services { name: "echo" module: "echo" } '
                       'services { name: "docs" module: "document_server" parameters { key: "pth" value: "d" } } '
                       'nodes { name: "a" hosts { service: "echo" } } nodes { name: "b" hosts { service: "docs" } }')
            spec.flush()
            done = run(f"--spec={spec.name}", "--node=b")
        self.assertEqual(done.returncode, 1)
        self.assertIn("service 'docs': unknown parameter 'pth'; its module has path", done.stderr)

    def test_a_module_that_is_not_here_is_an_error_of_the_check(self) -> None:
        done = check('name: "x" multicast_group: "239.1.1.1:7000" services { name: "s" module: "absent" } '
                     'nodes { name: "a" hosts { service: "s" } }')
        self.assertEqual(done.returncode, 2)
        self.assertIn("no absent.so in", done.stderr)


if __name__ == "__main__":
    unittest.main()

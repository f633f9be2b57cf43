#!/usr/bin/env python3
"""Says what a machine lacks to build and run the project, each with its remedy.

The judgements are pure functions of what was found, so that tests need no such machine.
"""

import os
import re
import resource
import socket
import subprocess
import sys
from typing import Callable, Dict, List, NamedTuple, Optional

sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
import command_flags
from command_flags import Flag, source_root

OK, NOTE, MISSING = "ok", "note", "missing"
_GIB = 1 << 30
# A compiler takes up to a GiB, Bazel one (tools/setup/bazel.sh).
BUILD_MEMORY_MIN = 2 * _GIB
RUN_MEMORY_MIN = _GIB // 2
DISK_MIN = 10 * _GIB
DESCRIPTORS_MIN = 4096
MAPPINGS_MIN = 65_530
PORTS = (8080, 8081)
REQUIRED_LIST = "packages.txt"
LISTS = {REQUIRED_LIST: "to build and run", "packages_test.txt": "for the tests", "packages_check.txt": "for ./tools/check",
         "packages_fuzz.txt": "for ./tools/check fuzz"}
USAGE = """Says what this machine lacks to build and run a cluster, with the remedy of each.

  neptune doctor
  python3 tools/neptune/doctor.py     the same before anything is built

It only looks; nothing is installed or changed. Lines that begin with 'note' are for information.
Status: 0 nothing is missing; 1 something is; 2 wrong arguments."""
FLAGS = [Flag("port", 0, "also look whether this port is free; 0: only those of data/clusters/dev.textproto")]


class Finding(NamedTuple):
    level: str
    what: str
    remedy: str = ""


def judge_packages(missing: Dict[str, List[str]], is_debian_12: bool) -> List[Finding]:
    """`missing` has the packages of each list that are not installed."""
    findings = []
    if not is_debian_12:
        findings.append(Finding(NOTE, "this is not Debian 12, for which the lists of packages are",
                                "install the equivalents, or use a container of debian:12"))
    for name, purpose in LISTS.items():
        lacking = missing.get(name)
        if lacking is None:
            continue
        if not lacking:
            findings.append(Finding(OK, f"packages {purpose}"))
            continue
        findings.append(Finding(MISSING if name == REQUIRED_LIST else NOTE, f"packages {purpose}: {' '.join(lacking)}",
                                f"as root: apt-get update && apt-get install -y --no-install-recommends {' '.join(lacking)}"))
    return findings


def judge_memory(available: int, processors: int) -> Finding:
    text = f"{available / _GIB:.1f} GiB of memory available, {processors} processors"
    if available < RUN_MEMORY_MIN:
        return Finding(MISSING, text, "end other programs; a small cluster wants half a GiB")
    if available < BUILD_MEMORY_MIN:
        return Finding(MISSING, text, "end other programs, or add swap, before a build, which wants 2 GiB; or build on another machine")
    return Finding(OK, text)


def judge_disk(free: int, folder: str) -> Finding:
    text = f"{free / _GIB:.1f} GiB free for {folder}"
    if free < DISK_MIN:
        return Finding(MISSING, text, f"make room: less than {DISK_MIN // _GIB} GiB may be too little for a build, its cache and an index")
    return Finding(OK, text)


def judge_descriptors(hard: int) -> Finding:
    """Nodes raise their own limit to the hard one."""
    text = "descriptors: no limit" if hard < 0 else f"descriptors: at most {hard:,} for a process"
    if 0 <= hard < DESCRIPTORS_MIN:
        return Finding(MISSING, text, "raise the hard limit: 'neptune hard nofile 65536' in /etc/security/limits.conf and a new "
                                      "login, LimitNOFILE= of a unit, or --ulimit nofile=65536 of a container")
    return Finding(OK, text)


def judge_ports(taken: List[int]) -> List[Finding]:
    return [Finding(NOTE, f"port {port} of 127.0.0.1 is in use: by a cluster that runs already, or by another program",
                    "./tools/up --status says whether it is a cluster; else end the program, or copy the spec, change its "
                    "http_port and give the copy with --spec") for port in taken]


def judge_kernel(values: Dict[str, Optional[int]]) -> List[Finding]:
    findings = []
    mappings = values.get("vm.max_map_count")
    if mappings is not None and mappings < MAPPINGS_MIN:
        findings.append(Finding(MISSING, f"vm.max_map_count is {mappings:,}; stacks of user-level threads are mappings",
                                f"as root: sysctl -w vm.max_map_count={MAPPINGS_MIN}"))
    if values.get("vm.overcommit_memory") == 2:
        findings.append(Finding(MISSING, "vm.overcommit_memory is 2: reserved address space, as for stacks, counts as memory",
                                "as root: sysctl -w vm.overcommit_memory=0"))
    return findings or [Finding(OK, "kernel limits")]


def judge_machine(system: str, machine: str) -> Finding:
    if (system, machine) != ("Linux", "x86_64"):
        return Finding(MISSING, f"{system} on {machine}", "the project is built and tested on Linux on x86_64 only")
    return Finding(OK, f"{system} on {machine}")


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(1 << 20)
    except OSError:
        return ""


def _number(text: str) -> Optional[int]:
    return int(text) if re.fullmatch(r"\s*-?\d+\s*", text) else None


def names_of(text: str) -> List[str]:
    """Of a list of packages; '#' begins a comment."""
    return [name for name in (line.split("#")[0].strip() for line in text.splitlines()) if name]


def missing_packages(root: str) -> Dict[str, List[str]]:
    lists = {name: names_of(_read(os.path.join(root, "tools", name))) for name in LISTS}
    names = sorted({name for listed in lists.values() for name in listed})
    if not names:
        return {}
    try:
        said = subprocess.run(["dpkg-query", "--show", "--showformat=${db:Status-Status}=${Package}\\n", *names],
                              capture_output=True, text=True, check=False).stdout
    except OSError:
        return {}
    installed = {line.partition("=")[2] for line in said.splitlines() if line.startswith("installed=")}
    return {name: [one for one in listed if one not in installed] for name, listed in lists.items() if listed}


def is_taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def available_memory() -> int:
    found = re.search(r"^MemAvailable:\s+(\d+) kB", _read("/proc/meminfo"), re.MULTILINE)
    available = int(found[1]) << 10 if found else 0
    limit = _number(_read("/sys/fs/cgroup/memory.max"))
    return min(available, limit) if limit else available


def examine(port: int) -> List[Finding]:
    root = source_root()
    system = os.uname()
    findings = [judge_machine(system.sysname, system.machine)]
    if root:
        findings += judge_packages(missing_packages(root), _read("/etc/debian_version").startswith("12"))
    folder = root or os.getcwd()
    disk = os.statvfs(folder)
    findings.append(judge_memory(available_memory(), len(os.sched_getaffinity(0))))
    findings.append(judge_disk(disk.f_bavail * disk.f_frsize, folder))
    findings.append(judge_descriptors(resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    findings += judge_kernel({name: _number(_read("/proc/sys/" + name.replace(".", "/")))
                              for name in ("vm.max_map_count", "vm.overcommit_memory")})
    ports = PORTS + ((port,) if port and port not in PORTS else ())
    findings += judge_ports([one for one in ports if is_taken(one)]) or [
        Finding(OK, f"ports {', '.join(map(str, ports))} of 127.0.0.1 are free")]
    return findings


def report(findings: List[Finding], show: Callable[[str], None]) -> int:
    for finding in findings:
        show(f"{finding.level:<7}  {finding.what}")
        if finding.remedy:
            show(f"         {finding.remedy}")
    missing = sum(finding.level == MISSING for finding in findings)
    show("nothing is missing" if missing == 0 else f"{missing} of {len(findings)} are missing; the remedy stands below each")
    return 1 if missing else 0


def main() -> int:
    values, rest = command_flags.parse("doctor", USAGE, FLAGS, sys.argv[1:])
    if rest or not 0 <= int(values["port"]) <= 65_535:
        wrong = f"unexpected argument '{rest[0]}'" if rest else "--port: 0 to 65535"
        print(f"doctor: {wrong}; try --help", file=sys.stderr)
        return 2
    return report(examine(int(values["port"])), print)


if __name__ == "__main__":
    sys.exit(main())

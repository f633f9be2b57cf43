"""A server as a group of processes: started, measured, stopped."""

import os
import signal
import subprocess
import time
from typing import Dict, List, Optional, Tuple

STOP_LIMIT_S = 20.0
POLL_PAUSE_S = 0.02
DESCRIPTORS = 120_000


def allow_descriptors() -> None:
    """As many as the system lets this process have; what it starts inherits the limit."""
    import resource
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    for limit in (max(hard, DESCRIPTORS), hard):
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
            return
        except (ValueError, OSError):
            continue


def stat_fields(pid: int) -> Optional[List[str]]:
    """Fields of /proc/PID/stat from the state on; the name before may contain blanks."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rsplit(") ", 1)[1].split()
    except (OSError, IndexError):
        return None


class ServerProcess:
    """The first process of a session of its own, and all that belong to the session."""

    def __init__(self, argv: List[str], log: str, environment: Optional[Dict[str, str]] = None):
        with open(log, "ab") as out:
            self._process = subprocess.Popen(argv, stdout=out, stderr=out, stdin=subprocess.DEVNULL,
                                             start_new_session=True,
                                             env={**os.environ, **(environment or {})})
        self._session = self._process.pid

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def pids(self) -> List[int]:
        found = []
        for name in os.listdir("/proc"):
            fields = stat_fields(int(name)) if name.isdigit() else None
            if fields and int(fields[3]) == self._session and fields[0] != "Z":
                found.append(int(name))
        return found

    def processor_s(self) -> float:
        """User and system time of the processes that run, and of those that they waited for."""
        ticks = 0
        for pid in self.pids():
            fields = stat_fields(pid)
            if fields:
                ticks += sum(int(fields[i]) for i in (11, 12, 13, 14))
        return ticks / os.sysconf("SC_CLK_TCK")

    def memory_mib(self) -> Tuple[float, float]:
        """Proportional set size, and the part of it that is not of files."""
        sums = {"Pss:": 0, "Pss_Anon:": 0}
        for pid in self.pids():
            try:
                with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
                    for line in file:
                        words = line.split()
                        if words[0] in sums:
                            sums[words[0]] += int(words[1])
            except OSError:
                continue
        return sums["Pss:"] / 1024, sums["Pss_Anon:"] / 1024

    def stop(self) -> None:
        """Asks the first process to end, then ends all of the session."""
        self._signal([self._session], signal.SIGTERM)
        deadline = time.monotonic() + STOP_LIMIT_S
        while time.monotonic() < deadline and not self.has_ended():
            time.sleep(POLL_PAUSE_S)
        self._signal(self.pids(), signal.SIGKILL)
        self._process.wait()

    @staticmethod
    def _signal(pids: List[int], number: int) -> None:
        for pid in pids:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass


def run_and_measure(argv: List[str], log: str, stdin: Optional[str] = None) -> Tuple[float, float]:
    """Runs a program to its end; its processor seconds and seconds. Raises RuntimeError if it fails."""
    began = time.monotonic()
    with open(log, "ab") as out, open(stdin or os.devnull, "rb") as source:
        process = subprocess.Popen(argv, stdout=out, stderr=out, stdin=source)
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:  # this program is to end
            process.kill()
            raise
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{argv[0]} ended with {process.returncode}; see {log}")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - began

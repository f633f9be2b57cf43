"""Processor time, memory and life of processes, from /proc."""

import os
from typing import Dict, Iterable

from server_process import stat_fields


def is_alive(pid: int) -> bool:
    fields = stat_fields(pid)
    return fields is not None and fields[0] not in ("Z", "X")


def processor_s(pid: int) -> float:
    """Time of all its threads that live, to the nanosecond; /proc/PID/stat has ticks of 10 ms only."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
                total += int(file.read().split()[0])
        except (OSError, IndexError):
            continue  # the thread has ended
    return total / 1e9


def _status_kib(pid: int, name: str) -> int:
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith(name + ":"):
                return int(line.split()[1])
    raise OSError(f"/proc/{pid}/status has no {name}")


def resident_mib(pid: int) -> float:
    return _status_kib(pid, "VmRSS") / 1024


class PeakMemory:
    """Growth of the resident memory of processes to its peak since the start."""

    def __init__(self, pids: Iterable[int]):
        self._before: Dict[int, float] = {}
        for pid in pids:
            with open(f"/proc/{pid}/clear_refs", "w", encoding="ascii") as file:
                file.write("5")  # the peak is forgotten
            self._before[pid] = resident_mib(pid)

    def growth_mib(self) -> float:
        """Of the process that grew most."""
        return max(_status_kib(pid, "VmHWM") / 1024 - before for pid, before in self._before.items())

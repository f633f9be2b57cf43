"""Ports that are free and waits that end: for tests of processes.

Found by every test that run_python.sh runs and that has it among its data.
"""

import random
import socket
import time
from typing import Callable

POLL_PAUSE_S = 0.02
PORT_MIN = 10000


def wait_until(condition: Callable[[], bool], limit_s: float, what: str) -> float:
    """Polls until the condition holds; the seconds it took. Raises AssertionError at the limit."""
    begin = time.monotonic()
    while True:
        if condition():
            return time.monotonic() - begin
        if time.monotonic() - begin > limit_s:
            raise AssertionError(f"after {limit_s} s still not: {what}")
        time.sleep(POLL_PAUSE_S)


def free_port(address: str = "127.0.0.1") -> int:
    """A port at which no socket listens, below the range from which the kernel assigns ports: a port
    of that range may be given to another process at any time."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
        given_from = int(file.read().split()[0])
    while True:
        port = random.randrange(PORT_MIN, max(given_from, PORT_MIN + 1000))
        with socket.socket() as probe:
            try:
                probe.bind((address, port))
                return port
            except OSError:
                continue


def answers(port: int) -> bool:
    """Whether a socket on loopback accepts connections at the port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0

"""Commands to a Redis server, many under way at once."""

import socket
import time
from typing import BinaryIO

_UNDER_WAY_MAX = 200
_START_LIMIT_S = 60.0
_PAUSE_S = 0.05


def redis_request(*words: str) -> bytes:
    parts = [word.encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)


class RedisPipe:
    """Errors of the server are RuntimeError, of the connection OSError."""

    def __init__(self, port: int, timeout_s: float = 600.0):
        self._socket = self._connect(port, timeout_s)
        self._replies: BinaryIO = self._socket.makefile("rb")
        self._unsent = b""
        self._under_way = 0

    @staticmethod
    def _connect(port: int, timeout_s: float) -> socket.socket:
        deadline = time.monotonic() + min(timeout_s, _START_LIMIT_S)
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port), timeout_s)
            except ConnectionRefusedError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_PAUSE_S)

    def send(self, *words: str) -> None:
        self._unsent += redis_request(*words)
        self._under_way += 1
        if self._under_way >= _UNDER_WAY_MAX:
            self.finish()

    def finish(self) -> None:
        """Waits for all replies."""
        self._socket.sendall(self._unsent)
        self._unsent = b""
        for _ in range(self._under_way):
            self._checked(self.read_reply())
        self._under_way = 0

    def call(self, *words: str) -> bytes:
        self.finish()
        return self._checked(self.ask_raw(redis_request(*words)))

    def ask_raw(self, request: bytes) -> bytes:
        """The reply's bytes, whatever it says."""
        self._socket.sendall(request)
        return self.read_reply()

    def read_reply(self) -> bytes:
        line = self._replies.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionResetError("the server closed the connection")
        if line[:1] == b"$" and int(line[1:]) >= 0:
            return line + self._replies.read(int(line[1:]) + 2)
        if line[:1] == b"*" and int(line[1:]) > 0:
            return line + b"".join(self.read_reply() for _ in range(int(line[1:])))
        return line

    @staticmethod
    def _checked(reply: bytes) -> bytes:
        if reply.startswith(b"-"):
            raise RuntimeError(reply.decode("utf-8", "replace").strip())
        return reply

    def close(self) -> None:
        self._replies.close()
        self._socket.close()

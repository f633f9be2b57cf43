"""Connections that say whatever an attack wants, and plain questions from any loopback address."""

import http.client
import socket
import ssl
import time
from typing import Dict, List, Optional, Tuple

from answers import Reply

Address = Tuple[str, int]
TIMEOUT_S = 5.0


def connect(address: Address, source: str = "", timeout: float = TIMEOUT_S) -> socket.socket:
    return socket.create_connection(address, timeout, (source, 0) if source else None)


def exchange(address: Address, data: bytes, limit_s: float = TIMEOUT_S, quiet_s: float = .4) -> Tuple[bytes, bool]:
    """Sends and reads until the other end closes, is quiet for a while, or the limit. The bytes, and whether it closed."""
    received = b""
    deadline = time.monotonic() + limit_s
    with connect(address) as client:
        try:
            client.sendall(data)
            while time.monotonic() < deadline:
                client.settimeout(quiet_s if received else limit_s)
                piece = client.recv(1 << 16)
                if not piece:
                    return received, True
                received += piece
        except socket.timeout:
            return received, False
        except OSError:  # reset
            return received, True
    return received, False


def _open(port: int, timeout: float, source: str, tls: Optional[ssl.SSLContext]) -> http.client.HTTPConnection:
    origin = (source, 0) if source else None
    if tls:
        return http.client.HTTPSConnection("127.0.0.1", port, timeout=timeout, context=tls, source_address=origin)
    return http.client.HTTPConnection("127.0.0.1", port, timeout=timeout, source_address=origin)


def ask(port: int, path: str, headers: Optional[Dict[str, str]] = None, method: str = "GET", body: Optional[bytes] = None,
        timeout: float = TIMEOUT_S, source: str = "", tls: Optional[ssl.SSLContext] = None) -> Reply:
    """One question on a connection of its own. Status 0: no answer came."""
    connection = _open(port, timeout, source, tls)
    try:
        connection.request(method, path, body=body, headers=headers or {})
        response = connection.getresponse()
        return Reply(response.status, response.read(), {name.lower(): value for name, value in response.getheaders()})
    except (OSError, http.client.HTTPException) as error:
        return Reply(0, repr(error).encode())
    finally:
        connection.close()


def close_all(sockets: List[socket.socket]) -> None:
    for one in sockets:
        try:
            one.close()
        except OSError:
            pass

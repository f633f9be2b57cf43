"""Requests of the kind that public probes of HTTP/1.1 servers send, and the answers that RFC 9110 and 9112 permit: pure.

Each probe is followed, on its connection, by an ordinary request. What comes of both says where the server believes
that the first one ended: a server that finds no fault in a request must answer the second one, a server that refuses the
framing of the first must not.
"""

from typing import FrozenSet, List, NamedTuple

from http_answer import HttpAnswer

# What may come of the request that follows.
ANSWERED, CLOSED, EITHER = "answered", "closed", "either"

FOLLOWING = b"GET {path}?following HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
MAY_ACCEPT = frozenset(range(200, 500))  # well-formed: anything but a failure of the server
OK = frozenset({200})
BAD = frozenset({400})


class Probe(NamedTuple):
    rule: str
    request: bytes  # {path}: of a page that is there; {host}: host and port of the server; {post}: takes POST
    permitted: FrozenSet[int]  # statuses of the first answer; empty: there must be none, the connection may close
    then: str
    is_head: bool = False
    needs: str = ""  # a header that the answer must have, in small letters
    may_close: bool = False  # with no answer at all: permitted too


def _get(line: bytes = b"GET {path} HTTP/1.1", headers: bytes = b"Host: {host}\r\n") -> bytes:
    return line + b"\r\n" + headers + b"\r\n"


def _post(headers: bytes, body: bytes = b"") -> bytes:
    return b"POST {post} HTTP/1.1\r\nHost: {host}\r\nContent-Type: text/plain\r\n" + headers + b"\r\n" + body


def _chunks(body: bytes, coding: bytes = b"chunked", more: bytes = b"") -> bytes:
    return _post(b"Transfer-Encoding: " + coding + b"\r\n" + more, body)


def _of(*statuses: int) -> FrozenSet[int]:
    return frozenset(statuses)


def _refused(rule: str, request: bytes, *statuses: int) -> Probe:
    """The recipient must refuse it: 400 unless others are named; closing without an answer is not an answer."""
    return Probe(rule, request, _of(*(statuses or (400,))), CLOSED)


def _may_end(rule: str, request: bytes, permitted: FrozenSet[int]) -> Probe:
    return Probe(rule, request, permitted, EITHER)


PROBES: List[Probe] = [
    # The request line.
    Probe("9112 3: a request", _get(), OK, ANSWERED),
    Probe("9110 9.3.2: HEAD", _get(b"HEAD {path} HTTP/1.1"), OK, ANSWERED, is_head=True),
    Probe("9112 2.2: an empty line before the request line (SHOULD be skipped)", b"\r\n" + _get(), OK, ANSWERED),
    _may_end("9112 2.2: a bare LF as line end (MAY be one)", b"GET {path} HTTP/1.1\nHost: {host}\n\n", _of(200, 400)),
    _refused("9112 2.2: a bare CR in a value (MUST be invalid or replaced)",
             _get(headers=b"Host: {host}\r\nA: b\rc\r\n"), 400),
    _refused("9112 2.2: a blank before the first header (MUST reject or ignore the line)",
             b"GET {path} HTTP/1.1\r\n Host: {host}\r\n\r\n"),
    _may_end("9112 3: two blanks in the request line (SHOULD be 400)", _get(b"GET  {path} HTTP/1.1"), _of(200, 400)),
    _may_end("9112 3: a blank in the target (SHOULD be 400)", _get(b"GET {path} b HTTP/1.1"), _of(400, 404)),
    _refused("9112 3: no target", _get(b"GET HTTP/1.1")),
    Probe("9112 3: a method is case-sensitive", _get(b"get {path} HTTP/1.1"), _of(400, 405, 501), EITHER),
    Probe("9110 9.1: an unknown method (SHOULD be 501)", _get(b"BREW {path} HTTP/1.1"), _of(400, 405, 501), EITHER),
    _refused("9110 5.6.2: a method with a separator", _get(b"G(T {path} HTTP/1.1"), 400, 501),
    Probe("9110 15.5.6: 405 MUST have Allow", _get(b"DELETE {path} HTTP/1.1"), _of(403, 405, 501), EITHER, needs="allow"),
    Probe("9110 9.3.8: TRACE", _get(b"TRACE {path} HTTP/1.1"), _of(200, 403, 405, 501), EITHER),
    _may_end("9110 9.3.6: CONNECT to an origin server",
             b"CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n\r\n", _of(400, 403, 404, 405, 501)),
    _refused("9110 2.5: a higher major version", _get(b"GET {path} HTTP/2.0"), 400, 505),
    _refused("9112 2.3: a version that is none", _get(b"GET {path} HTTP/1")),
    _refused("9112 2.3: more digits", _get(b"GET {path} HTTP/1.10"), 400, 505),
    _refused("9112 2.3: the protocol's name is case-sensitive", _get(b"GET {path} http/1.1"), 400, 501, 505),
    _refused("9112 2.3: another protocol", _get(b"GET {path} FTP/1.1"), 400, 501, 505),
    Probe("9112 2.3: a higher minor version (SHOULD be taken as 1.1)", _get(b"GET {path} HTTP/1.2"), _of(200, 400, 505), EITHER),
    # The target.
    _refused("9112 3.2.1: neither a path nor absolute", _get(b"GET healthz HTTP/1.1"), 400, 404),
    Probe("9112 3.2.2: absolute form (MUST be accepted)", _get(b"GET http://{host}{path} HTTP/1.1"), OK, ANSWERED),
    Probe("9112 3.2.4: OPTIONS *", _get(b"OPTIONS * HTTP/1.1"), _of(200, 204), ANSWERED),
    _may_end("3986 2.1: a broken escape", _get(b"GET {path}%4 HTTP/1.1"), _of(400, 404)),
    Probe("9110 15.5.5: an unknown path", _get(b"GET /nowhere-at-all HTTP/1.1"), _of(404), ANSWERED),
    _may_end("9110 4.1: a target of 8,000 bytes (SHOULD be supported)",
             _get(b"GET {path}?" + b"a" * 7900 + b" HTTP/1.1"), _of(200, 400, 414)),
    _may_end("9112 3: a target of 70,000 bytes", _get(b"GET {path}?" + b"a" * 70000 + b" HTTP/1.1"), _of(400, 414, 431)),
    # Host.
    _refused("9112 3.2: no Host (MUST be 400)", _get(headers=b"")),
    Probe("9112 3.2: no Host in HTTP/1.0", _get(b"GET {path} HTTP/1.0", b""), OK, CLOSED),
    _refused("9112 3.2: two Hosts (MUST be 400)", _get(headers=b"Host: {host}\r\nHost: {host}\r\n")),
    _refused("9112 3.2: two different Hosts (MUST be 400)", _get(headers=b"Host: {host}\r\nHost: a.test\r\n")),
    _refused("9112 3.2: a list as Host (MUST be 400)", _get(headers=b"Host: {host}, a.test\r\n")),
    _refused("9112 3.2: a path in Host (MUST be 400)", _get(headers=b"Host: {host}/a\r\n")),
    _refused("9112 3.2: a user in Host (MUST be 400)", _get(headers=b"Host: u@{host}\r\n")),
    _refused("9112 3.2: a port that is none (MUST be 400)", _get(headers=b"Host: a.test:8a\r\n")),
    # Headers.
    _refused("9112 5.1: a blank before the colon (MUST be 400)", _get(headers=b"Host: {host}\r\nA : b\r\n")),
    _refused("9112 5.1: a line without a colon", _get(headers=b"Host: {host}\r\nA\r\n")),
    _refused("9112 5.1: a header without a name", _get(headers=b"Host: {host}\r\n: b\r\n")),
    _refused("9110 5.6.2: a name with a separator", _get(headers=b"Host: {host}\r\nA(: b\r\n")),
    Probe("9110 5.5: an empty value", _get(headers=b"Host: {host}\r\nA:\r\n"), OK, ANSWERED),
    Probe("9112 5.1: blanks around a value", _get(headers=b"Host:\t {host} \t\r\n"), OK, ANSWERED),
    Probe("9110 5.5: bytes beyond ASCII (opaque)", _get(headers=b"Host: {host}\r\nA: \xc3\xa4\r\n"), _of(200, 400), EITHER),
    _may_end("9112 5.2: a folded header (MUST be 400 or one blank)",
             _get(headers=b"Host: {host}\r\nA: b\r\n c\r\n"), _of(200, 400)),
    _refused("9110 5.5: a zero byte in a value (MUST be invalid or replaced)", _get(headers=b"Host: {host}\r\nA: b\0c\r\n")),
    Probe("9110 7.8: an upgrade that is not known", _get(headers=b"Host: {host}\r\nConnection: Upgrade\r\nUpgrade: x/1\r\n"),
          OK, ANSWERED),
    Probe("9110 5.1: names of headers in any case", _get(headers=b"hOsT: {host}\r\n"), OK, ANSWERED),
    # Connections.
    Probe("9112 9.3: HTTP/1.1 stays", _get(headers=b"Host: {host}\r\nConnection: keep-alive\r\n"), OK, ANSWERED),
    Probe("9112 9.6: close (MUST NOT answer what follows)", _get(headers=b"Host: {host}\r\nConnection: close\r\n"), OK, CLOSED),
    Probe("9110 7.6.1: close in a list and in any case", _get(headers=b"Host: {host}\r\nConnection: a, Close\r\n"), OK, CLOSED),
    Probe("9112 9.3: HTTP/1.0 ends", _get(b"GET {path} HTTP/1.0"), OK, CLOSED),
    # Bodies with a length. What POST is answered with does not matter, but where it ends does.
    Probe("9112 6.3: a length", _post(b"Content-Length: 2\r\n", b"ab"), MAY_ACCEPT, EITHER),
    Probe("9110 9.3.1: GET with a body", _get(headers=b"Host: {host}\r\nContent-Length: 2\r\n") + b"ab", _of(200, 400, 413),
          EITHER),
    Probe("9112 6.3: POST without a length has no body", _post(b""), MAY_ACCEPT, EITHER),
    _refused("9110 8.6: a length with a sign", _post(b"Content-Length: +2\r\n", b"ab")),
    _refused("9110 8.6: a length below zero", _post(b"Content-Length: -2\r\n", b"ab")),
    _refused("9110 8.6: a hexadecimal length", _post(b"Content-Length: 0x2\r\n", b"ab")),
    _refused("9110 8.6: two numbers", _post(b"Content-Length: 2 2\r\n", b"ab")),
    _refused("9112 6.3: lengths that differ (MUST be refused)", _post(b"Content-Length: 2\r\nContent-Length: 3\r\n", b"abc")),
    _refused("9112 6.3: a list of lengths that differ (MUST be refused)", _post(b"Content-Length: 2, 3\r\n", b"abc")),
    _may_end("9110 8.6: a list of equal lengths (MAY be taken)", _post(b"Content-Length: 2, 2\r\n", b"ab"), MAY_ACCEPT),
    _refused("9110 8.6: a length beyond 64 bits (MUST be refused)", _post(b"Content-Length: 99999999999999999999\r\n"), 400, 413),
    # Bodies in chunks.
    Probe("9112 7.1: chunks (MUST be understood)", _chunks(b"1\r\na\r\n1\r\nb\r\n0\r\n\r\n"), MAY_ACCEPT, EITHER),
    Probe("9112 7: the coding's name in any case", _chunks(b"2\r\nab\r\n0\r\n\r\n", b"Chunked"), MAY_ACCEPT, EITHER),
    Probe("9112 7.1.1: extensions (MUST be ignored)", _chunks(b"2;a=b;c=\"d\"\r\nab\r\n0;e\r\n\r\n"), MAY_ACCEPT, EITHER),
    Probe("9112 7.1.2: trailers", _chunks(b"2\r\nab\r\n0\r\nT: u\r\n\r\n"), MAY_ACCEPT, EITHER),
    Probe("9112 7.1: zeros and capital digits", _chunks(b"000A\r\n0123456789\r\n000\r\n\r\n"), MAY_ACCEPT, EITHER),
    _refused("9112 7.1: no size", _chunks(b"\r\n\r\n")),
    _refused("9112 7.1: a size that is none", _chunks(b"0x2\r\nab\r\n0\r\n\r\n")),
    _refused("9112 7.1: a size with a sign", _chunks(b"+2\r\nab\r\n0\r\n\r\n")),
    _refused("9112 7.1: a size beyond 64 bits (MUST be refused)", _chunks(b"10000000000000002\r\nab\r\n0\r\n\r\n"), 400, 413),
    _refused("9112 7.1: more bytes than the size", _chunks(b"1\r\nab\r\n0\r\n\r\n")),
    _may_end("9112 6.3: chunks with a length (MAY be refused; else the chunks count and the connection ends)",
             _chunks(b"2\r\nab\r\n0\r\n\r\n", more=b"Content-Length: 3\r\n"), MAY_ACCEPT),
    _refused("9112 6.3: chunked is not the last coding (MUST be 400)", _chunks(b"0\r\n\r\n", b"chunked, gzip"), 400, 501),
    _refused("9112 6.1: chunked twice (MUST NOT be sent)", _chunks(b"0\r\n\r\n", b"chunked, chunked"), 400, 501),
    _refused("9112 6.1: an unknown coding (SHOULD be 501)", _chunks(b"0\r\n\r\n", b"x-unknown"), 400, 501),
    _refused("9112 6.1: a coding in disguise", _chunks(b"0\r\n\r\n", b"\x0bchunked"), 400, 501),
    _may_end("9112 6.1: chunks in HTTP/1.0 (MUST be taken as faulty; the connection ends)",
             b"POST {post} HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", MAY_ACCEPT),
    # Expectations.
    Probe("9110 10.1.1: 100-continue without a body", _get(headers=b"Host: {host}\r\nExpect: 100-continue\r\n"), OK, ANSWERED),
    Probe("9110 15.5.18: another expectation (MAY be 417)", _get(headers=b"Host: {host}\r\nExpect: more\r\n"), _of(200, 417), EITHER),
]


def filled(text: bytes, path: str, post: str, host: str) -> bytes:
    for name, value in ((b"{path}", path), (b"{post}", post), (b"{host}", host)):
        text = text.replace(name, value.encode())
    return text


def judge(probe: Probe, answers: List[HttpAnswer]) -> str:
    """Empty if what came is permitted, else what is wrong with it."""
    final = [answer for answer in answers if answer.status >= 200]
    if not final:
        return "" if probe.may_close else "no answer"
    first = final[0]
    if first.status not in probe.permitted:
        return f"answered {first.status}"
    if first.status == 405 and probe.needs and probe.needs not in first.headers:
        return f"{first.status} without {probe.needs}"
    if len(final) > 2:
        return f"{len(final)} answers to two requests"
    if probe.then == ANSWERED and len(final) != 2:
        return "what follows was not answered"
    if probe.then == CLOSED and len(final) != 1:
        return "what follows was answered"
    if len(final) == 2 and final[1].status != 200:
        return f"what follows was answered {final[1].status}"
    return ""

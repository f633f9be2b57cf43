"""Answers of an HTTP/1.1 server in the bytes that it sent: pure. Reads no more than attacks need."""

from typing import Dict, List, NamedTuple, Optional, Tuple


class HttpAnswer(NamedTuple):
    status: int
    headers: Dict[str, str]  # names in small letters; the last of several
    body: bytes


def _chunked(data: bytes) -> Optional[Tuple[bytes, bytes]]:
    """Body and what follows it; None while it is not whole."""
    body = b""
    while True:
        line, found, data = data.partition(b"\r\n")
        if not found:
            return None
        size = int(line.split(b";")[0], 16)
        if len(data) < size + 2:
            return None
        body, data = body + data[:size], data[size + 2:]
        if size == 0:
            return body, data


def take(data: bytes, is_head: bool = False, has_ended: bool = False) -> Optional[Tuple[HttpAnswer, bytes]]:
    """The first answer, and the bytes after it; None while it is not whole. Raises ValueError for other bytes."""
    head, found, rest = data.partition(b"\r\n\r\n")
    if not found:
        if data and not b"HTTP/1.1 ".startswith(data[:9]) and not data.startswith((b"HTTP/1.1 ", b"HTTP/1.0 ")):
            raise ValueError(f"not an answer: {data[:60]!r}")
        return None
    lines = head.split(b"\r\n")
    words = lines[0].split(b" ", 2)
    if len(words) < 2 or words[0] not in (b"HTTP/1.1", b"HTTP/1.0") or not (words[1].isdigit() and len(words[1]) == 3):
        raise ValueError(f"not a status line: {lines[0][:60]!r}")
    status = int(words[1])
    headers = {}
    for line in lines[1:]:
        name, _, value = line.partition(b":")
        headers[name.decode("latin-1").lower()] = value.decode("latin-1").strip()
    if status < 200 or status in (204, 304) or is_head:
        return HttpAnswer(status, headers, b""), rest
    if headers.get("transfer-encoding", "").lower() == "chunked":
        whole = _chunked(rest)
        return (HttpAnswer(status, headers, whole[0]), whole[1]) if whole else None
    if "content-length" in headers:
        size = int(headers["content-length"])
        return (HttpAnswer(status, headers, rest[:size]), rest[size:]) if len(rest) >= size else None
    return (HttpAnswer(status, headers, rest), b"") if has_ended else None


def take_all(data: bytes, has_ended: bool = False, head_first: bool = False) -> List[HttpAnswer]:
    """All whole answers; a last one that is not whole is left out."""
    answers: List[HttpAnswer] = []
    while data:
        taken = take(data, head_first and not answers, has_ended)
        if not taken:
            break
        answers.append(taken[0])
        data = taken[1]
    return answers

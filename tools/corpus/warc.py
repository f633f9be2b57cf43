"""Pages of a Web archive: the HTTP answers of its response records.

Source: ISO 28500 (WARC 1.0 and 1.1); the HTTP answer in a record is read by Python's own http.client. Files are plain or
gzip, with one member for each record or one for all.
Errors: WarcError if the framing is broken; what was read before stands. A record that cannot be used is not an error, but
counted by its reason.
Limits: HEAD_SIZE_MAX bytes of a record's head, PAGE_SIZE_MAX bytes of an answer; longer ones are passed over.
"""

import gzip
import http.client
import io
import zlib
from typing import BinaryIO, Callable, Dict, Iterator, NamedTuple

HEAD_SIZE_MAX = 64 << 10
PAGE_SIZE_MAX = 8 << 20
_ANSWER_SIZE_MAX = PAGE_SIZE_MAX + (64 << 10)  # with its head
_SKIP_SIZE = 1 << 20
_VERSIONS = (b"WARC/1.0", b"WARC/1.1", b"WARC/0.17", b"WARC/0.18")


class WarcError(Exception):
    pass


class Page(NamedTuple):
    url: str
    content_type: str  # "text/html", without parameters
    charset: str       # "" if it is not stated
    date: str          # "2024-03-05", or ""
    body: bytes


def open_archive(path: str) -> BinaryIO:
    with open(path, "rb") as file:
        is_packed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rb") if is_packed else open(path, "rb")


def read_pages(archive: BinaryIO, skipped: Callable[[str], None]) -> Iterator[Page]:
    """`skipped` is called with the reason for each response record that gives no page."""
    try:
        yield from _read_pages(archive, skipped)
    except (OSError, EOFError, zlib.error) as error:
        raise WarcError(f"the file is damaged or cut: {error}") from error


def _read_pages(archive: BinaryIO, skipped: Callable[[str], None]) -> Iterator[Page]:
    while True:
        head = _record_head(archive)
        if head is None:
            return
        length = head.get("content-length", "")
        if not (length.isascii() and length.isdigit() and len(length) <= 18):
            raise WarcError(f"a record without a usable Content-Length: {length!r}")
        size = int(length)
        if head.get("warc-type", "").lower() != "response":
            _pass_over(archive, size)
        elif size > _ANSWER_SIZE_MAX:
            skipped(f"larger than {PAGE_SIZE_MAX >> 20} MiB")
            _pass_over(archive, size)
        else:
            block = archive.read(size)
            if len(block) < size:
                raise WarcError("the last record is cut")
            page = _page(head, block, skipped)
            if page is not None:
                yield page


def _record_head(archive: BinaryIO):
    """The fields of the next record by their names in lower case; None at the end."""
    line = b"\r\n"
    while line in (b"\r\n", b"\n"):  # what ends the record before
        line = archive.readline(HEAD_SIZE_MAX)
    if not line:
        return None
    if line.strip() not in _VERSIONS:
        raise WarcError(f"expected a line 'WARC/1.0', not {line[:40]!r}")
    fields: Dict[str, str] = {}
    size = 0
    while True:
        line = archive.readline(HEAD_SIZE_MAX)
        size += len(line)
        if not line.endswith(b"\n") or size > HEAD_SIZE_MAX:
            raise WarcError(f"a record's head is cut or larger than {HEAD_SIZE_MAX >> 10} KiB")
        if line in (b"\r\n", b"\n"):
            return fields
        name, _, value = line.decode("utf-8", "replace").partition(":")
        fields.setdefault(name.strip().lower(), value.strip())


def _pass_over(archive: BinaryIO, size: int) -> None:
    while size > 0:
        read = len(archive.read(min(size, _SKIP_SIZE)))
        if read == 0:
            raise WarcError("the last record is cut")
        size -= read


class _Answer:
    """What http.client takes for a socket."""

    def __init__(self, block: bytes):
        self._block = block

    def makefile(self, *_args, **_kwargs) -> BinaryIO:
        return io.BytesIO(self._block)


def _page(head: Dict[str, str], block: bytes, skipped: Callable[[str], None]):
    url = head.get("warc-target-uri", "").strip("<>")
    if not url.startswith(("http://", "https://")):
        return skipped("no http or https address")
    response = http.client.HTTPResponse(_Answer(block))
    try:
        response.begin()
        body = response.read(PAGE_SIZE_MAX + 1)
    except (http.client.HTTPException, ValueError, OSError):
        return skipped("not an HTTP answer")
    if response.status != 200:
        return skipped("status other than 200")
    encoding = (response.getheader("content-encoding") or "identity").strip().lower()
    try:
        body = decoded(body, encoding)
    except KeyError:
        return skipped(f"content encoding {encoding[:20]!r} is not supported")
    except zlib.error:
        return skipped("damaged compressed body")
    if len(body) > PAGE_SIZE_MAX:
        return skipped(f"larger than {PAGE_SIZE_MAX >> 20} MiB")
    date = head.get("warc-date", "")[:10]
    return Page(url, response.headers.get_content_type(), response.headers.get_content_charset() or "", date, body)


def decoded(body: bytes, encoding: str) -> bytes:
    """At most one byte more than PAGE_SIZE_MAX. Raises KeyError for an encoding that is not known."""
    windows = {"identity": 0, "gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}[encoding]
    return body if windows == 0 else zlib.decompressobj(windows).decompress(body, PAGE_SIZE_MAX + 1)

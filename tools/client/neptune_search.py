#!/usr/bin/env python3
"""A client of the search frontend, in one file that needs nothing but Python 3.9.

    client = Client("http://127.0.0.1:8080", timeout_s=5)
    for result in client.results("window functions", limit=30):
        print(result["title"], result["url"])

or, as a command: python3 neptune_search.py "window functions"

What the routes answer, and so the dictionaries returned here, is described by /openapi.json.

Retries: a request that is answered 429, 503 or 504, or not at all, is sent again until its time is
over; after as long as the answer's Retry-After says, else after a growing random pause. Changes of
documents carry an Idempotency-Key, so one that is sent again is the same change.

Threads: a Client may be used by many at once; each request has a connection of its own.
Errors: SearchError and its kinds below. ValueError: an argument that no server need be asked about.
Limits: ANSWER_SIZE_MAX bytes of an answer; BULK_LINES_MAX lines and BULK_SIZE_MAX bytes of one bulk
request.
"""

import argparse
import http.client
import json
import random
import socket
import ssl
import sys
import time
import unicodedata
import urllib.parse
import uuid
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Union

ANSWER_SIZE_MAX = 64 << 20
BULK_LINES_MAX = 1000
BULK_SIZE_MAX = 16 << 20
READ_SIZE = 64 << 10
TIMEOUT_MIN_S = 0.001
PAUSE_FIRST_S = 0.1
PAUSE_MAX_S = 5.0
PAGE_MAX = 100


class SearchError(Exception):
    """The service did not do what it was asked. `problem` is its problem document, or empty."""
    def __init__(self, message: str, status: int = 0, problem: Optional[Dict[str, Any]] = None):
        super().__init__(message)
        self.status = status
        self.problem = problem or {}


class BadRequest(SearchError):
    """400: wrong; problem["parameter"] names the parameter if it is one."""


class Unauthorized(SearchError):
    """401: the API key is unknown."""


class Forbidden(SearchError):
    """403: the service class is for clients with a key."""


class NotFound(SearchError):
    """404: no such document or page; or documents do not change there."""


class Conflict(SearchError):
    """409: the Idempotency-Key belongs to a request with other contents."""


class TooLarge(SearchError):
    """413: over a limit of the service."""


class TooManyRequests(SearchError):
    """429: this client asks more often than it may, and there was no time left to wait."""


class Unavailable(SearchError):
    """503: overloaded or not there, until the time was over. A change may be made all the same."""


class TimedOut(SearchError):
    """504, or no answer in time. A change may be made all the same."""


class ConnectionFailed(SearchError):
    """No server was reached, its certificate is not trusted, or its answer is not HTTP."""


KINDS = {
    400: BadRequest, 401: Unauthorized, 403: Forbidden, 404: NotFound, 409: Conflict, 413: TooLarge,
    429: TooManyRequests, 503: Unavailable, 504: TimedOut
}
RETRIED = (429, 503, 504)


class _Answer(NamedTuple):
    status: int
    retry_after_s: Optional[float]
    body: bytes


def _bearer(token: str) -> Dict[str, str]:
    return {"Authorization": "Bearer " + token} if token else {}


class Client:
    """Queries one frontend, or a proxy before several."""
    def __init__(self,
                 url: str = "http://127.0.0.1:8080",
                 *,
                 api_key: str = "",
                 operator_token: str = "",
                 document_token: str = "",
                 service_class: str = "",
                 ca_file: str = "",
                 timeout_s: float = 10.0,
                 clock: Callable[[], float] = time.monotonic,
                 sleep: Callable[[float], None] = time.sleep):
        """`operator_token`: for console() and status(); `document_token`: for changes of documents. Without
        tokens of their own, frontends let only programs on their own machine do either. Others can read
        tokens, unless https is used.

        `ca_file`: the certificates that are trusted over https, in PEM; default: those that the system trusts.

        `timeout_s`: for each request with its retries. `clock`, `sleep`: for tests.
        """
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"not an address of a service: {url!r}")
        self._host, self._port = parts.hostname, parts.port
        self._prefix = parts.path.rstrip("/")
        self._tls = ssl.create_default_context(
            cafile=ca_file or None) if parts.scheme == "https" else None
        self._headers = {"Accept": "application/json"}
        if api_key:
            self._headers["X-Api-Key"] = api_key
        self._operator = _bearer(operator_token)
        self._writer = _bearer(document_token)
        if service_class:
            self._headers["Neptune-Service-Class"] = service_class
        self._timeout_s = timeout_s
        self._clock, self._sleep = clock, sleep

    # Searching.

    def search(self,
               query: str,
               start: int = 0,
               count: int = 10,
               *,
               fresh: bool = False,
               trace: bool = False,
               as_typed: bool = False,
               plain: bool = False,
               exactly: bool = False) -> Dict[str, Any]:
        """One page of results, with what was searched and what is missing ("coverage").

        `fresh`: past the cache. `as_typed`: whatever its spelling; else the results may be those
        of page["corrected"]["query"]. `plain`: the query is running text, nothing in it is an
        operator. `exactly`: what the query demands is demanded even if no page has it; else the
        results may be pages with some of the words, and page["relaxed"] says so.
        """
        parameters = {"q": query, "start": start, "count": count, "format": "json"}
        if trace:
            parameters["trace"] = 1
        if as_typed:
            parameters["spell"] = 0
        if plain:
            parameters["syntax"] = "plain"
        if exactly:
            parameters["relax"] = 0
        headers = {"Cache-Control": "no-cache"} if fresh else {}
        return self._json("GET", "/search", parameters, headers)

    def pages(self,
              query: str,
              *,
              page_size: int = 10,
              fresh: bool = False) -> Iterator[Dict[str, Any]]:
        """Pages of results, until the service has no further one."""
        start = 0
        while True:
            page = self.search(query, start, page_size, fresh=fresh)
            yield page
            if "next" not in page["links"]:
                return
            start += page_size

    def results(self,
                query: str,
                limit: Optional[int] = None,
                *,
                fresh: bool = False) -> Iterator[Dict[str, Any]]:
        """Results, the best first, over as many pages as are needed; at most `limit`."""
        left = sys.maxsize if limit is None else limit
        if left <= 0:
            return
        for page in self.pages(query, page_size=min(left, PAGE_MAX), fresh=fresh):
            yield from page["results"][:left]
            left -= len(page["results"])
            if left <= 0:
                return

    def suggest(self, typed: str) -> List[str]:
        """Completions, the best first."""
        return self._json("GET", "/suggest", {"q": typed})[1]

    def document(self, doc_id: Union[str, int]) -> Dict[str, Any]:
        """What is stored of a document: "id", "url", "title", "site", "text"."""
        return self._json("GET", "/doc/" + _id_text(doc_id), {"format": "json"})

    # Changing documents, where the service takes changes.

    def put(self, document: Dict[str, Any], *, idempotency_key: str = "") -> str:
        """Adds a document, or replaces the one with its id or url; its number.

        It is found within two seconds.
        """
        return self._change("POST", "/documents", {}, "application/json", _encode(document),
                            idempotency_key)["id"]

    def delete(self, doc_id: Union[str, int], *, idempotency_key: str = "") -> str:
        """Removes a document, if it is there; its number."""
        return self._change("DELETE", "/documents/" + _id_text(doc_id), {}, "", b"",
                            idempotency_key)["id"]

    def delete_url(self, url: str, *, idempotency_key: str = "") -> str:
        """Removes the document with this url, if there is one; its number."""
        return self._change("DELETE", "/documents", {"url": url}, "", b"", idempotency_key)["id"]

    def change_many(self, lines: Iterable[Dict[str, Any]]) -> Iterator[Dict[str, Any]]:
        """Documents, {"delete": ID} and {"delete_url": URL}, many in one request.

        What became of each, in order: "status" as of HTTP, "id", and "detail" where it failed. A
        request that fails as a whole raises; those before it were made.
        """
        for body in _bulk_bodies(lines):
            yield from self._change("POST", "/documents", {}, "application/x-ndjson", body,
                                    "")["documents"]

    # The service itself.

    def is_ready(self, complete: bool = False) -> bool:
        """Whether it answers searches now; `complete`: with every partition. Asked once."""
        answer = self._exchange("GET", "/readyz" + ("?complete=1" if complete else ""), {}, b"",
                                self._timeout_s)
        if answer.status not in (200, 503):
            raise _error_of(answer)
        return answer.status == 200

    def console(self) -> Dict[str, Any]:
        """The cluster: nodes, services, partitions, latest searches."""
        return self._json("GET", "/console", {"format": "json"}, self._operator)

    def status(self) -> Dict[str, Any]:
        """What the frontend's node knows."""
        return self._json("GET", "/statusz", {"format": "json"}, self._operator)

    # How.

    def _json(self,
              method: str,
              path: str,
              parameters: Dict[str, Any],
              headers: Optional[Dict[str, str]] = None,
              body: bytes = b"") -> Any:
        answer = self._send(method, path, parameters, headers or {}, body)
        try:
            return json.loads(answer.body)
        except ValueError as error:
            raise ConnectionFailed(f"{path}: the answer is not JSON: {error}",
                                   answer.status) from None

    def _change(self, method: str, path: str, parameters: Dict[str, Any], content_type: str,
                body: bytes, key: str) -> Any:
        headers = dict(self._writer, **{"Idempotency-Key": key or uuid.uuid4().hex})
        if content_type:
            headers["Content-Type"] = content_type
        return self._json(method, path, parameters, headers, body)

    def _send(self,
              method: str,
              path: str,
              parameters: Dict[str, Any],
              headers: Dict[str, str],
              body: bytes = b"") -> _Answer:
        """Until it is answered for good, or the time is over."""
        target = path + ("?" + urllib.parse.urlencode(parameters) if parameters else "")
        deadline = self._clock() + self._timeout_s
        pause_s = PAUSE_FIRST_S
        while True:
            wait_s: Optional[float] = None
            try:
                answer = self._exchange(method, target, headers, body, deadline - self._clock())
                if 200 <= answer.status < 300:
                    return answer
                error = _error_of(answer)
                wait_s = answer.retry_after_s
                if answer.status not in RETRIED:
                    raise error
            except (ConnectionFailed, TimedOut) as failed:
                if isinstance(failed.__cause__, ssl.SSLCertVerificationError) or failed.status:
                    raise
                error = failed
            if wait_s is None:
                wait_s = random.uniform(pause_s / 2, pause_s)
                pause_s = min(2 * pause_s, PAUSE_MAX_S)
            if self._clock() + wait_s >= deadline:
                raise error
            self._sleep(wait_s)

    def _exchange(self, method: str, target: str, headers: Dict[str, str], body: bytes,
                  timeout_s: float) -> _Answer:
        """One request and its answer, whatever its status."""
        end = self._clock() + timeout_s
        connection = self._connect(max(timeout_s, TIMEOUT_MIN_S))
        try:
            connection.request(method, self._prefix + target, body or None,
                               {**self._headers, **headers})
            received_from = connection.sock
            response = connection.getresponse()
            received = bytearray()
            while len(received) <= ANSWER_SIZE_MAX and not response.isclosed():
                received_from.settimeout(max(end - self._clock(), TIMEOUT_MIN_S))
                piece = response.read1(READ_SIZE)
                if not piece:
                    break
                received += piece
            if response.length and len(received) <= ANSWER_SIZE_MAX:
                raise http.client.IncompleteRead(bytes(received), response.length)
        except (TimeoutError, socket.timeout) as error:
            raise TimedOut(f"{target}: no answer in time") from error
        except (OSError, http.client.HTTPException) as error:
            raise ConnectionFailed(f"{self._host}: {error!r}") from error
        finally:
            connection.close()
        if len(received) > ANSWER_SIZE_MAX:
            raise ConnectionFailed(f"{target}: the answer is over {ANSWER_SIZE_MAX} bytes",
                                   response.status)
        return _Answer(response.status, _seconds(response.getheader("Retry-After")),
                       bytes(received))

    def _connect(self, timeout_s: float) -> http.client.HTTPConnection:
        if self._tls is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=timeout_s)
        return http.client.HTTPSConnection(self._host,
                                           self._port,
                                           timeout=timeout_s,
                                           context=self._tls)


def _encode(document: Dict[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, allow_nan=False).encode("utf-8")


def _id_text(doc_id: Union[str, int]) -> str:
    text = str(doc_id)
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"documents have whole numbers, not {doc_id!r}")
    return text


def _bulk_bodies(lines: Iterable[Dict[str, Any]]) -> Iterator[bytes]:
    body, count = bytearray(), 0
    for line in lines:
        text = _encode(line) + b"\n"
        if count == BULK_LINES_MAX or (count > 0 and len(body) + len(text) > BULK_SIZE_MAX):
            yield bytes(body)
            body, count = bytearray(), 0
        body += text
        count += 1
    if count > 0:
        yield bytes(body)


def _seconds(text: Optional[str]) -> Optional[float]:
    """Retry-After in its form of seconds, which is the one that the service uses."""
    return float(
        text) if text is not None and text.isascii() and text.isdigit() and len(text) < 10 else None


def _error_of(answer: _Answer) -> SearchError:
    try:
        problem = json.loads(answer.body)
    except ValueError:
        problem = {}
    if not isinstance(problem, dict):
        problem = {}
    title = problem.get("title") or http.client.responses.get(answer.status, "")
    detail = problem.get("detail")
    message = f"{answer.status} {title}" + (f": {detail}" if detail else "")
    return KINDS.get(answer.status, SearchError)(message, answer.status, problem)


# The command.


def _printable(text: str) -> str:
    """Without what could steer a terminal."""
    return "".join(" " if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") else c for c in text)


def _print_page(page: Dict[str, Any]) -> None:
    if page.get("corrected"):
        print("showing results for: " + _printable(page["corrected"]["query"]))
    if page.get("relaxed"):
        print(_printable(page["relaxed"]["note"]))
    if page["did_you_mean"]:
        print("did you mean: " + _printable(page["did_you_mean"]["query"]))
    for part in page.get("narrowed_by", []):
        print(("without: " if part["kind"] == "exclusion" else "only site: ") +
              _printable(part["text"]))
    for place, result in enumerate(page["results"], page["start"] + 1):
        print(f"{place}. {_printable(result['title'] or 'document ' + result['id'])}")
        print("   " + _printable(result["url"]))
        if result["snippet"]:
            print("   " + _printable(result["snippet"]))
    about = "" if page["total_is_exact"] else "at least "
    print(f"{about}{page['total']} found; {_printable(page['coverage']['summary'])}")


def _arguments(arguments: Optional[List[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Asks a search frontend.",
        epilog="Exit status: 0 there was an "
        "answer, 1 there was none, 2 the query or an argument is wrong.")
    parser.add_argument("query")
    parser.add_argument("--url",
                        default="http://127.0.0.1:8080",
                        help="of the service (%(default)s)")
    parser.add_argument("--start", type=int, default=0, help="place of the first result, from 0")
    parser.add_argument("--count",
                        type=int,
                        default=10,
                        help="results, at most %d (%%(default)s)" % PAGE_MAX)
    parser.add_argument("--json", action="store_true", help="print the answer as it is")
    parser.add_argument("--api-key", default="")
    parser.add_argument("--ca-file", default="", help="who is believed over https, in PEM")
    parser.add_argument("--timeout",
                        type=float,
                        default=10.0,
                        metavar="SECONDS",
                        help="(%(default)s)")
    return parser.parse_args(arguments)


def main(arguments: Optional[List[str]] = None) -> int:
    given = _arguments(arguments)
    try:
        client = Client(given.url,
                        api_key=given.api_key,
                        ca_file=given.ca_file,
                        timeout_s=given.timeout)
        page = client.search(given.query, given.start, given.count)
    except (ValueError, BadRequest) as error:
        print(_printable(str(error)), file=sys.stderr)
        return 2
    except (SearchError, OSError) as error:
        print(_printable(str(error)), file=sys.stderr)
        return 1
    if given.json:
        json.dump(page, sys.stdout, indent=1, ensure_ascii=True)
        print()
    else:
        _print_page(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())

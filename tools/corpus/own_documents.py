"""Readers of people's own documents: a folder, an mbox, a Web archive, a list of addresses. They write JSON Lines of
texts, and HTML pages as files that //tools:corpus converts.

What cannot be used is counted by its reason and, for the first few, named; it never ends the run.
Limits: DOCUMENTS_MAX documents, PAGE_SIZE_MAX bytes of a page, TEXT_SIZE_MAX of a text (the rest is cut off), ADDRESSES_MAX
addresses, FETCH_LIMIT_S seconds for each.
"""

import collections
import email.parser
import email.policy
import email.utils
import html.parser
import json
import mailbox
import os
import re
import time
import urllib.error
import urllib.request
from typing import Callable, Dict, Iterator, List, Optional

import warc

DOCUMENTS_MAX = 5_000_000
PAGE_SIZE_MAX = warc.PAGE_SIZE_MAX
TEXT_SIZE_MAX = 4 << 20
MESSAGE_SIZE_MAX = 16 << 20
ADDRESSES_MAX = 100_000
ADDRESS_LINE_MAX = 2048
FETCH_LIMIT_S = 60.0
_SOCKET_TIMEOUT_S = 20.0
_READ_SIZE = 64 << 10
_NAMED_MAX = 5
HTML, MARKDOWN, TEXT = "html", "markdown", "text"
KINDS = {".html": HTML, ".htm": HTML, ".xhtml": HTML, ".md": MARKDOWN, ".markdown": MARKDOWN, ".txt": TEXT, ".text": TEXT,
         ".rst": TEXT, ".org": TEXT, ".adoc": TEXT}
_HTML_TYPES = ("text/html", "application/xhtml+xml")
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w-]{1,40})", re.IGNORECASE)
_STATED = re.compile(_CHARSET.pattern.decode("ascii"), re.IGNORECASE)
USER_AGENT = "neptune-index/1"


class NotReadable(Exception):
    """The input as a whole; the message says why and what is possible."""


class Skipped:
    """What was left out, by reason."""

    def __init__(self) -> None:
        self.counts: Dict[str, int] = collections.Counter()
        self._named: Dict[str, List[str]] = collections.defaultdict(list)

    def add(self, reason: str, name: str = "") -> None:
        self.counts[reason] += 1
        if name and len(self._named[reason]) < _NAMED_MAX:
            self._named[reason].append("".join(c if c.isprintable() else "?" for c in name))

    def lines(self) -> List[str]:
        made = []
        for reason, count in sorted(self.counts.items()):
            named = self._named[reason]
            more = ", ..." if len(named) < count and named else ""
            made.append(f"{count:,} left out, {reason}" + (f": {', '.join(named)}{more}" if named else ""))
        return made


class Documents:
    """Where readers put documents: texts.jsonl and pages/NUMBER.html in a folder."""

    def __init__(self, folder: str, site: str, progress: Callable[[int], None] = lambda count: None):
        self.site = site
        self.skipped = Skipped()
        self.count = 0
        self.first_title = ""
        self.pages: Dict[str, dict] = {}  # by the name of their file: what is known besides
        self.pages_folder = os.path.join(folder, "pages")
        self.texts_path = os.path.join(folder, "texts.jsonl")
        self.text_count = 0
        self._progress = progress
        os.makedirs(self.pages_folder, exist_ok=True)
        self._texts = open(self.texts_path, "w", encoding="utf-8")

    def close(self) -> None:
        self._texts.close()

    def _counted(self) -> None:
        self.count += 1
        if self.count > DOCUMENTS_MAX:
            raise NotReadable(f"more than {DOCUMENTS_MAX:,} documents; give a part of them")
        self._progress(self.count)

    def add_text(self, url: str, title: str, text: str, date: str = "", public_url: str = "") -> None:
        if not text.strip():
            self.skipped.add("no text", url)
            return
        self._counted()
        self.text_count += 1
        self.first_title = self.first_title or title
        line = {"url": url, "title": title, "site": self.site, "text": cut(text), "date": date, "public_url": public_url}
        self._texts.write(json.dumps({key: value for key, value in line.items() if value}, ensure_ascii=False) + "\n")

    def add_page(self, url: str, body: bytes, charset: str = "", date: str = "") -> None:
        self._counted()
        name = f"{len(self.pages):08}.html"
        self.pages[name] = {"url": url, "date": date}
        with open(os.path.join(self.pages_folder, name), "w", encoding="utf-8", errors="replace") as file:
            file.write(_as_utf8(decoded(body, charset)))


def _as_utf8(page: str) -> str:
    """The page without the encoding that it had before."""
    return _STATED.sub(lambda match: match[0][: match.start(1) - match.start()] + "utf-8", page[:4096]) + page[4096:]


def cut(text: str) -> str:
    data = text.encode("utf-8", "replace")
    return (data if len(data) <= TEXT_SIZE_MAX else data[:TEXT_SIZE_MAX]).decode("utf-8", "ignore")


def decoded(body: bytes, charset: str = "") -> str:
    for mark, name in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if body.startswith(mark):
            return body.decode(name, "replace")
    if not charset:
        stated = _CHARSET.search(body[:2048])
        charset = stated[1].decode("ascii") if stated else "utf-8"
    try:
        return body.decode(charset, "replace")
    except (LookupError, UnicodeError, ValueError):
        return body.decode("utf-8", "replace")


def first_line(text: str, otherwise: str) -> str:
    line = next((line.strip("#= \t") for line in text.splitlines() if line.strip("#=-* \t")), "")
    return line if 0 < len(line) <= 120 else otherwise


def add_body(documents: Documents, url: str, content_type: str, charset: str, date: str, body: bytes) -> None:
    """A page as a Web server sends it."""
    if content_type in _HTML_TYPES:
        documents.add_page(url, body, charset, date)
    elif content_type in ("text/plain", "text/markdown"):
        text = decoded(body, charset)
        public = url if url.startswith(("http://", "https://")) else ""
        documents.add_text(url, first_line(text, url), text, date, public)
    else:
        documents.skipped.add(f"content type {content_type[:40]} is not supported", url)


def read_folder(folder: str, name: str, documents: Documents) -> Dict[str, int]:
    """Adds the texts of a folder. HTML and Markdown are converted where they are: the counts of those."""
    found: Dict[str, int] = collections.Counter()
    skipped = documents.skipped
    for path in _files(folder, skipped):
        inside = os.path.relpath(path, folder)
        kind = KINDS.get(os.path.splitext(path)[1].lower())
        try:
            size = os.stat(path).st_size
            with open(path, "rb") as file:
                body = file.read(TEXT_SIZE_MAX) if kind == TEXT else b""
        except OSError as error:
            skipped.add(f"not readable ({error.strerror})", inside)
            continue
        if kind is None:
            skipped.add(f"kind '{os.path.splitext(path)[1].lower()[:12]}' is not supported")
        elif kind != TEXT:
            found[kind] += 1
        elif b"\0" in body[:4096] and not body.startswith((b"\xff\xfe", b"\xfe\xff")):
            skipped.add("not text", inside)
        else:
            if size > TEXT_SIZE_MAX:
                skipped.add(f"the end of a text after {TEXT_SIZE_MAX >> 20} MiB", inside)
            text = decoded(body, "utf-8")
            documents.add_text(f"doc:{name}/{inside}", first_line(text, os.path.basename(path)), text)
    return found


def _files(folder: str, skipped: Skipped) -> Iterator[str]:
    """Regular files, by path; links are not followed."""
    def failed(error: OSError) -> None:
        skipped.add(f"not readable ({error.strerror})", os.path.relpath(error.filename, folder))
    for parent, folders, names in os.walk(folder, onerror=failed, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in list(folders):
            if os.path.islink(os.path.join(parent, name)):
                skipped.add("a symbolic link", os.path.relpath(os.path.join(parent, name), folder))
        for name in sorted(names):
            path = os.path.join(parent, name)
            if os.path.islink(path):
                skipped.add("a symbolic link", os.path.relpath(path, folder))
            elif os.path.isfile(path):
                yield path


class _Words(html.parser.HTMLParser):
    """The words of an HTML message."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: List[str] = []
        self._hidden = 0

    def handle_starttag(self, tag, attrs) -> None:
        self._hidden += tag in ("script", "style", "head")
        if tag in ("p", "br", "div", "li", "tr", "h1", "h2", "h3"):
            self.parts.append("\n")

    def handle_endtag(self, tag) -> None:
        if tag in ("script", "style", "head") and self._hidden:
            self._hidden -= 1

    def handle_data(self, data) -> None:
        if not self._hidden:
            self.parts.append(data)


def _message_text(message) -> str:
    """Its plain text, else the words of its HTML; attachments are left out."""
    part = message.get_body(preferencelist=("plain", "html"))
    if part is None:
        return ""
    text = part.get_content()
    if not isinstance(text, str):
        return ""
    if part.get_content_subtype() == "html":
        words = _Words()
        words.feed(text)
        words.close()
        text = re.sub(r"\n\s*\n+", "\n", "".join(words.parts))
    return text


def _day(message) -> str:
    try:
        return email.utils.parsedate_to_datetime(str(message["date"])).strftime("%Y-%m-%d") if message["date"] else ""
    except (ValueError, TypeError, OverflowError, IndexError):
        return ""


def read_mbox(path: str, name: str, documents: Documents) -> None:
    """Messages of a file; each stands for itself, threads are not put together."""
    parser = email.parser.BytesParser(policy=email.policy.default)
    box = mailbox.mbox(path, create=False)
    try:
        for number, key in enumerate(box.keys(), start=1):
            with box.get_file(key) as file:
                data = file.read(MESSAGE_SIZE_MAX + 1)
            if len(data) > MESSAGE_SIZE_MAX:
                documents.skipped.add(f"larger than {MESSAGE_SIZE_MAX >> 20} MiB", f"message {number}")
                continue
            try:
                message = parser.parsebytes(data)
                subject, text, day = str(message["subject"] or ""), _message_text(message), _day(message)
                sender, mark = str(message["from"] or ""), str(message["message-id"] or "").strip(" <>\t\r\n")
            except Exception:  # pylint: disable=broad-except  # whatever the library makes of broken messages
                documents.skipped.add("not a readable message", f"message {number}")
                continue
            url = f"mid:{mark}" if re.fullmatch(r"[!-~]{3,500}", mark) else f"doc:{name}/{number}"
            documents.add_text(url, subject or f"Message {number}", f"{sender}\n{text}" if text.strip() else "", day)
    finally:
        box.close()


def read_warc(path: str, documents: Documents) -> None:
    with warc.open_archive(path) as archive:
        try:
            for page in warc.read_pages(archive, documents.skipped.add):
                add_body(documents, page.url, page.content_type, page.charset, page.date, page.body)
        except warc.WarcError as error:
            if documents.count == 0:
                raise NotReadable(f"{path}: {error}") from error
            documents.skipped.add(f"the rest of the archive: {error}", os.path.basename(path))


def addresses_of(text: str) -> List[str]:
    """Of a list with an address a line; '#' begins a comment. Raises NotReadable with the first wrong line."""
    found: List[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if len(line) > ADDRESS_LINE_MAX or not re.fullmatch(r"(?:https?://[^\s/]+|file:///)\S*", line):
            raise NotReadable(f"line {number} is not an http, https or file:// address: {line[:80]!r}")
        found.append(line)
    if len(found) > ADDRESSES_MAX:
        raise NotReadable(f"more than {ADDRESSES_MAX:,} addresses")
    return list(dict.fromkeys(found))


class _FewRedirects(urllib.request.HTTPRedirectHandler):
    """Five at most. The library follows none to a file of this machine, which the list alone may name."""
    max_redirections = 5


def _opener() -> urllib.request.OpenerDirector:
    opener = urllib.request.OpenerDirector()
    for handler in (urllib.request.ProxyHandler(), urllib.request.HTTPHandler(), urllib.request.HTTPSHandler(),
                    urllib.request.FileHandler(), _FewRedirects(), urllib.request.HTTPErrorProcessor(),
                    urllib.request.HTTPDefaultErrorHandler(), urllib.request.UnknownHandler()):
        opener.add_handler(handler)
    opener.addheaders = [("User-Agent", USER_AGENT), ("Accept-Encoding", "identity")]
    return opener


def _bounded_body(response, deadline: float) -> Optional[bytes]:
    """None if it is too large. Raises TimeoutError."""
    body = b""
    while True:
        piece = response.read1(_READ_SIZE) if hasattr(response, "read1") else response.read(_READ_SIZE)
        if not piece:
            return body
        body += piece
        if len(body) > PAGE_SIZE_MAX:
            return None
        if time.monotonic() > deadline:
            raise TimeoutError(f"took longer than {FETCH_LIMIT_S:.0f} s")


def read_addresses(addresses: List[str], documents: Documents) -> None:
    """Fetches one after the other. Whether a site permits it (robots.txt) is for who gives the list to know."""
    opener = _opener()
    for address in addresses:
        try:
            with opener.open(address, timeout=_SOCKET_TIMEOUT_S) as response:
                body = _bounded_body(response, time.monotonic() + FETCH_LIMIT_S)
                content_type, charset = response.headers.get_content_type(), response.headers.get_content_charset() or ""
        except urllib.error.HTTPError as error:
            documents.skipped.add(f"HTTP status {error.code}", address)
            continue
        except Exception as error:  # pylint: disable=broad-except  # of sockets, TLS, http.client, addresses
            reason = getattr(error, "reason", error)
            documents.skipped.add(f"not fetched ({str(reason)[:80] or type(error).__name__})", address)
            continue
        if body is None:
            documents.skipped.add(f"larger than {PAGE_SIZE_MAX >> 20} MiB", address)
        else:
            add_body(documents, address, content_type, charset, "", body)

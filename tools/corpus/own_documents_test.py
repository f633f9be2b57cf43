"""Tests of the readers of people's own documents. Random inputs come from SEED, which a failure names."""

import gzip
import http.server
import io
import json
import os
import random
import sys
import tempfile
import threading
import unittest
from typing import Dict, List
from unittest import mock

import own_documents
import warc
from own_documents import Documents, NotReadable

SEED = 29
MUTATIONS = 400
PAGE = b"<html><head><meta charset='iso-8859-1'><title>Caf\xe9</title></head><body><p>Au caf\xe9 du coin.</p></body></html>"


def record(kind: str, url: str, block: bytes, more: str = "") -> bytes:
    head = f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2024-03-05T10:00:00Z\r\n{more}"
    return head.encode() + f"Content-Length: {len(block)}\r\n\r\n".encode() + block + b"\r\n\r\n"


def answer(body: bytes, head: str = "Content-Type: text/html; charset=iso-8859-1", status: str = "200 OK") -> bytes:
    return f"HTTP/1.1 {status}\r\n{head}\r\n\r\n".encode() + body


class ReaderTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.documents = Documents(os.path.join(self.folder, "read"), "own")
        self.addCleanup(self.documents.close)

    def write(self, name: str, content: bytes) -> str:
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def texts(self) -> List[dict]:
        self.documents.close()
        with open(self.documents.texts_path, encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def page(self, number: int = 0) -> str:
        with open(os.path.join(self.documents.pages_folder, f"{number:08}.html"), encoding="utf-8") as file:
            return file.read()

    def reasons(self) -> Dict[str, int]:
        return dict(self.documents.skipped.counts)


class FolderTest(ReaderTest):
    def read(self) -> Dict[str, int]:
        return own_documents.read_folder(os.path.join(self.folder, "in"), "in", self.documents)

    def test_texts_are_read_and_pages_counted(self) -> None:
        self.write("in/a.txt", "Title\n\nIt is text, é.\n".encode())
        self.write("in/b/c.html", PAGE)
        self.write("in/b/d.md", b"# D\n")
        self.write("in/e.rst", "Ünder\n=====\n\nA text.\n".encode("utf-16"))
        self.assertEqual({"html": 1, "markdown": 1}, self.read())
        self.assertEqual([("doc:in/a.txt", "Title", "own"), ("doc:in/e.rst", "Ünder", "own")],
                         [(text["url"], text["title"], text["site"]) for text in self.texts()])
        self.assertEqual({}, self.reasons())

    def test_links_are_not_followed(self) -> None:
        self.write("out/secret.txt", b"A secret outside of the folder.")
        self.write("in/a.txt", b"A text of its own.")
        os.symlink("../out/secret.txt", os.path.join(self.folder, "in", "b.txt"))
        os.symlink("../out", os.path.join(self.folder, "in", "c"))
        self.read()
        self.assertEqual(["doc:in/a.txt"], [text["url"] for text in self.texts()])
        self.assertEqual({"a symbolic link": 2}, self.reasons())
        self.assertEqual(["2 left out, a symbolic link: c, b.txt"], self.documents.skipped.lines())

    def test_what_cannot_be_used_is_counted_and_named(self) -> None:
        self.write("in/a.pdf", b"%PDF")
        self.write("in/b.txt", b"\0\1\2binary")
        self.write("in/c.txt", b"  \n")
        self.write("in/d.txt", b"x" * (own_documents.TEXT_SIZE_MAX + 5))
        os.mkfifo(os.path.join(self.folder, "in", "e.txt"))  # would never end
        self.read()
        self.assertEqual({"kind '.pdf' is not supported": 1, "not text": 1, "no text": 1,
                          "the end of a text after 4 MiB": 1}, self.reasons())
        self.assertEqual([own_documents.TEXT_SIZE_MAX], [len(text["text"]) for text in self.texts()])

    def test_unreadable_files_are_named(self) -> None:
        self.write("in/a.txt", b"A text.")
        with mock.patch("builtins.open", side_effect=PermissionError(13, "Permission denied")):
            self.read()
        self.assertEqual(["1 left out, not readable (Permission denied): a.txt"], self.documents.skipped.lines())


class MboxTest(ReaderTest):
    BOX = (b"From a@x Thu Mar  7 10:00:00 2024\nFrom: Ann <a@x>\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\n"
           b"Message-ID: <1@x>\nDate: Thu, 7 Mar 2024 10:00:00 +0100\n\nThe plain words of the first.\n\n"
           b"From b@x Thu Mar  7 11:00:00 2024\nFrom: b@x\nSubject: Second\nMIME-Version: 1.0\n"
           b"Content-Type: multipart/mixed; boundary=z\n\n--z\nContent-Type: text/html; charset=utf-8\n\n"
           b"<head><style>p {}</style></head><p>Marked &amp; words</p><script>no()</script>\n--z\n"
           b"Content-Type: application/pdf\nContent-Disposition: attachment\n\n%PDF\n--z--\n\n")

    def test_messages(self) -> None:
        own_documents.read_mbox(self.write("m.mbox", self.BOX), "m", self.documents)
        first, second = self.texts()
        self.assertEqual(("mid:1@x", "Grüße", "2024-03-07"), (first["url"], first["title"], first["date"]))
        self.assertIn("The plain words of the first.", first["text"])
        self.assertIn("Ann", first["text"])
        self.assertEqual(("doc:m/2", "Second"), (second["url"], second["title"]))
        self.assertIn("Marked & words", second["text"])
        for hidden in ("no()", "p {}", "%PDF"):
            self.assertNotIn(hidden, second["text"])

    def test_mutations_never_end_the_run(self) -> None:
        chance = random.Random(SEED)
        for number in range(MUTATIONS // 4):
            own_documents.read_mbox(self.write("m.mbox", mutated(self.BOX, chance)), f"m{number}", self.documents)
        for text in self.texts():
            self.assertTrue(text["text"].strip(), f"seed {SEED}")


class WarcTest(ReaderTest):
    def read(self, content: bytes) -> None:
        own_documents.read_warc(self.write("w.warc", content), self.documents)

    def test_answers_are_read_and_other_records_passed_over(self) -> None:
        chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(PAGE), PAGE)
        packed = gzip.compress(b"A plain text, packed.")
        archive = [record("warcinfo", "", b"software: x"), record("response", "http://a/1", answer(PAGE)),
                   record("request", "http://a/1", b"GET / HTTP/1.1\r\n\r\n"),
                   record("response", "<https://a/2>", answer(chunked, "Content-Type: text/html\r\nTransfer-Encoding: chunked")),
                   record("response", "http://a/3", answer(packed, "Content-Type: text/plain\r\nContent-Encoding: gzip"))]
        for content in (b"".join(archive), b"".join(gzip.compress(one) for one in archive), gzip.compress(b"".join(archive))):
            with self.subTest(len(content)):
                self.setUp()
                self.read(content)
                self.assertEqual([{"url": "http://a/1", "date": "2024-03-05"}, {"url": "https://a/2", "date": "2024-03-05"}],
                                 list(self.documents.pages.values()))
                for number in (0, 1):
                    self.assertIn("Au café du coin.", self.page(number))
                    self.assertNotIn("iso-8859-1", self.page(number))
                self.assertEqual(["A plain text, packed."], [text["text"] for text in self.texts()])
                self.assertEqual({}, self.reasons())

    def test_what_gives_no_page_is_counted(self) -> None:
        bomb = gzip.compress(b" " * (warc.PAGE_SIZE_MAX * 4))
        self.read(record("response", "http://a/1", answer(b"", status="404 Not Found"))
                  + record("response", "ftp://a/2", answer(PAGE)) + record("response", "http://a/3", b"no answer")
                  + record("response", "http://a/4", answer(b"x", "Content-Type: image/png"))
                  + record("response", "http://a/5", answer(b"x", "Content-Type: text/html\r\nContent-Encoding: br"))
                  + record("response", "http://a/6", answer(bomb, "Content-Type: text/html\r\nContent-Encoding: gzip"))
                  + record("response", "http://a/7", answer(b" " * (9 << 20))) + record("response", "http://a/8", answer(PAGE)))
        self.assertEqual({"status other than 200": 1, "no http or https address": 1, "not an HTTP answer": 1,
                          "content type image/png is not supported": 1, "content encoding 'br' is not supported": 1,
                          "larger than 8 MiB": 2}, self.reasons())
        self.assertEqual(["http://a/8"], [page["url"] for page in self.documents.pages.values()])

    def test_a_cut_archive_keeps_what_came_before(self) -> None:
        whole = record("response", "http://a/1", answer(PAGE))
        self.read(whole + whole[:-40])
        self.assertEqual(1, len(self.documents.pages))
        self.assertEqual({"the rest of the archive: the last record is cut": 1}, self.reasons())

    def test_a_file_that_is_none_is_refused(self) -> None:
        for content in (b"Hello\n", b"WARC/1.0\r\nContent-Length: -1\r\n\r\n", b"WARC/1.0\r\n" + b"a: b\r\n" * 20_000,
                        b"WARC/1.0\r\nContent-Length: 9" + b"9" * 30 + b"\r\n\r\n"):
            with self.subTest(content[:30]), self.assertRaises(NotReadable):
                self.read(content)

    def test_mutations_give_pages_or_errors_and_nothing_else(self) -> None:
        chance = random.Random(SEED)
        chunked = answer(b"5\r\nhello\r\n0\r\n\r\n", "Content-Type: text/plain\r\nTransfer-Encoding: chunked")
        packed = answer(gzip.compress(PAGE), "Content-Type: text/html\r\nContent-Encoding: gzip")
        whole = b"".join(record("response", f"http://a/{i}", block) for i, block in enumerate((answer(PAGE), chunked, packed)))
        pages = 0
        for number in range(MUTATIONS):
            content = mutated(whole, chance)
            if number % 4 == 0:
                content = mutated(gzip.compress(whole), chance)
            with warc.open_archive(self.write("w.warc", content)) as archive:
                try:
                    for page in warc.read_pages(archive, lambda reason: None):
                        pages += 1
                        self.assertLessEqual(len(page.body), warc.PAGE_SIZE_MAX, f"seed {SEED}")
                except warc.WarcError:
                    pass
        self.assertGreater(pages, MUTATIONS // 4, f"seed {SEED}")


class AddressesTest(ReaderTest):
    def test_a_list(self) -> None:
        self.assertEqual(["http://a/b", "file:///x"],
                         own_documents.addresses_of("# mine\nhttp://a/b\n\n file:///x \nhttp://a/b\n"))
        for wrong in ("ftp://a/b", "http:///x", "file://host/x", "/etc/passwd", "http://a b", "http://" + "a" * 3000):
            with self.subTest(wrong[:20]), self.assertRaisesRegex(NotReadable, "line 2 "):
                own_documents.addresses_of("http://a/\n" + wrong)
        with self.assertRaises(NotReadable):
            own_documents.addresses_of("".join(f"http://a/{i}\n" for i in range(own_documents.ADDRESSES_MAX + 1)))

    def test_pages_are_fetched_within_bounds(self) -> None:
        secret = self.write("secret.txt", b"A secret of this machine.")

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status, head, body = {
                    "/page": (200, {"Content-Type": "text/html; charset=iso-8859-1"}, PAGE),
                    "/text": (200, {"Content-Type": "text/plain"}, b"Some plain text."),
                    "/moved": (302, {"Location": "/page"}, b""),
                    "/to_file": (302, {"Location": "file://" + secret}, b""),
                    "/round": (302, {"Location": "/round"}, b""),
                    "/large": (200, {"Content-Type": "text/html"}, b"x" * (own_documents.PAGE_SIZE_MAX + 1)),
                }.get(self.path, (404, {}, b""))
                self.send_response(status)
                for name, value in head.items():
                    self.send_header(name, value)
                self.end_headers()
                try:
                    self.wfile.write(body)
                except OSError:
                    pass  # the reader has enough

            def log_message(self, format, *args) -> None:  # pylint: disable=redefined-builtin
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.addCleanup(server.server_close)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        base = f"http://127.0.0.1:{server.server_address[1]}"
        paths = ("/page", "/text", "/moved", "/to_file", "/round", "/large", "/none")
        with mock.patch.dict(os.environ, {"no_proxy": "*"}):
            own_documents.read_addresses([base + path for path in paths] + ["file://" + secret, "file:///no/such"],
                                         self.documents)
        self.assertEqual([base + "/page", base + "/moved"], [page["url"] for page in self.documents.pages.values()])
        self.assertIn("Au café du coin.", self.page())
        self.assertEqual([base + "/text", "file://" + secret], [text["url"] for text in self.texts()])
        reasons = self.reasons()
        self.assertEqual((2, 1, 1), (reasons["HTTP status 302"], reasons["HTTP status 404"], reasons["larger than 8 MiB"]))
        self.assertEqual(5, sum(reasons.values()))


def mutated(content: bytes, chance: random.Random) -> bytes:
    """Some bytes changed, removed, doubled or the end cut off."""
    data = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data)) if data else 0
        what = chance.randrange(4)
        if what == 0 and data:
            data[at] = chance.randrange(256)
        elif what == 1:
            del data[at:at + chance.randint(1, 20)]
        elif what == 2:
            data[at:at] = data[at:at + chance.randint(1, 40)]
        elif chance.random() < 0.2:
            del data[at:]
    return bytes(data)


class EncodingTest(unittest.TestCase):
    def test_stated_marked_or_utf8(self) -> None:
        self.assertEqual("é", own_documents.decoded("é".encode("latin-1"), "latin-1"))
        self.assertEqual("é", own_documents.decoded("é".encode("utf-16")))
        self.assertEqual("é", own_documents.decoded("é".encode(), "no-such-encoding"))
        self.assertEqual("\ufffd", own_documents.decoded(b"\xff"))
        self.assertIn("é", own_documents.decoded(b"<meta charset=latin1>\xe9"))

    def test_an_unpacked_body_has_a_bound(self) -> None:
        bomb = gzip.compress(b" " * (warc.PAGE_SIZE_MAX * 3))
        self.assertEqual(warc.PAGE_SIZE_MAX + 1, len(warc.decoded(bomb, "gzip")))

    def test_an_archive_from_memory(self) -> None:
        self.assertEqual([], list(warc.read_pages(io.BytesIO(b""), self.fail)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

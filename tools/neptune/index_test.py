"""One's own documents, from a folder to an answer over HTTP.

    index_test.py NEPTUNE CLUSTER_PROGRAM SPEC
"""

import os
import subprocess
import sys
import tempfile
import unittest
from typing import List

from cluster_process import Cluster

NEPTUNE, CLUSTER, SPEC = (os.path.abspath(path) for path in sys.argv[1:4])
LIMIT_S = 120.0


def index(*arguments: str) -> subprocess.CompletedProcess:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("BUILD_W")}
    return subprocess.run([NEPTUNE, "index", *arguments], capture_output=True, text=True, check=False, timeout=LIMIT_S,
                          env=environment)


class IndexTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.out = os.path.join(self.folder, "made", "own")

    def write(self, name: str, text: str) -> str:
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def urls(self, cluster: Cluster, query: str) -> List[str]:
        return [result["url"] for result in cluster.search(query)["results"]]

    def test_documents_of_every_kind_are_found_over_http(self) -> None:
        self.write("notes/bread.html", "<title>Baking bread</title><p>A sourdough starter needs flour and water daily.</p>")
        self.write("notes/sub/garden.md", "# Garden plan\n\nTomatoes and basil grow well in the warm summer.\n")
        self.write("notes/boat.txt", "Boat repair\n\nThe varnish of the hull needs sanding before the season.\n")
        self.write("notes/photo.png", "no text")
        mail = self.write("mail.mbox", "From a@x Thu Mar  7 10:00:00 2024\nFrom: a@x\nSubject: Harbour fees\n"
                          "Message-ID: <1@x>\n\nThe mooring invoice is due by Friday this week.\n\n")
        page = "<title>Lighthouses</title><p>The lantern room turns every twelve seconds at night.</p>"
        answer = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{page}"
        archive = self.write("crawl.warc", "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://light.example/a\r\n"
                             f"Content-Length: {len(answer)}\r\n\r\n{answer}\r\n\r\n")
        lines = self.write("more.jsonl", '{"url":"x:1","title":"Tides","text":"Spring tides follow the new moon closely."}\n')
        addresses = self.write("list.txt", "file://" + self.write("else/knots.txt", "Knots\n\nThe bowline does not slip at all.\n"))
        done = index(os.path.join(self.folder, "notes"), mail, archive, lines, addresses, "--out=" + self.out)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("notes: 1 left out, kind '.png' is not supported", done.stderr)
        self.assertIn("7 documents", done.stderr)
        self.assertEqual(["own", "own.first_query"], sorted(os.listdir(os.path.join(self.folder, "made"))))
        cluster = Cluster(CLUSTER, SPEC, self.out, self.folder)
        self.addCleanup(cluster.stop)
        cluster.start()
        for query, url in (("sourdough", "doc:notes/bread.html"), ("basil", "doc:notes/sub/garden.md"),
                           ("varnish site:notes", "doc:notes/boat.txt"), ("mooring invoice", "mid:1@x"),
                           ("lantern room", "https://light.example/a"), ("spring tides", "x:1"),
                           ("bowline", "file://" + os.path.join(self.folder, "else", "knots.txt"))):
            self.assertEqual([url], self.urls(cluster, query)[:1], query)
        with open(self.out + ".first_query", encoding="utf-8") as file:
            self.assertTrue(self.urls(cluster, file.read().strip()))

    def test_errors_say_what_is_possible(self) -> None:
        empty = os.path.join(self.folder, "empty")
        os.mkdir(empty)
        for arguments, status, words in (([], 2, "which documents?"), (["/no/such"], 2, "there is no /no/such"),
                                         ([self.write("x.pdf", "%PDF-1.7")], 2, "a Web archive"),
                                         ([empty], 1, "nothing was found to index"),
                                         ([empty, "--format=epub"], 2, "known are folder, urls, warc, jsonl, mbox"),
                                         ([empty, "--partitions=0"], 2, "1 to 256"), (["--partitons=2"], 2, "--partitions"),
                                         ([self.write("l", "http://a/\nftp://b/\n")], 1, "line 2 is not")):
            done = index(*arguments, "--out=" + self.out)
            self.assertEqual(status, done.returncode, done.stderr)
            self.assertIn(words, done.stderr)
            self.assertFalse(os.path.exists(self.out))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

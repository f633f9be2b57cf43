"""The pages that are checked: the samples of //frontend/render, and those of a live simulated cluster."""

import contextlib
import functools
import http.server
import json
import os
import subprocess
import tempfile
import threading
from typing import Dict, Iterator

from bridge import STOP_POLL_S, Bridge

LIVE_PAGES = {
    "home": "/", "results": "/search?q=license", "deep": "/search?q=license&start=10", "none": "/search?q=zzqqxx",
    "spelling": "/search?q=lisense", "beyond": "/search?q=license&start=900", "help": "/help", "console": "/console",
    "console that renews itself": "/console?refresh=3600", "traces": "/tracez", "error": "/search?q=a&start=-1",
    "no page": "/nowhere", "no document": "/doc/x", "node": "/statusz"
}
# Below it the samples were not written, and a test of all of them would say nothing.
SAMPLE_COUNT_MIN = 16


class PageFiles(http.server.SimpleHTTPRequestHandler):
    """Serves pages by name, like the frontend."""
    def translate_path(self, path: str) -> str:
        file = super().translate_path(path)
        return file if os.path.exists(file) else file + ".html"

    def log_message(self, *_) -> None:
        pass


@contextlib.contextmanager
def served_samples(preview: str) -> Iterator[Dict[str, str]]:
    """Addresses of all samples by name, served until the end of the context. Raises ValueError if most are missing."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([preview, folder], check=True)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(PageFiles, directory=folder))
        thread = threading.Thread(target=server.serve_forever, args=(STOP_POLL_S,))
        thread.start()
        try:
            names = [name[:-len(".html")] for name in sorted(os.listdir(folder)) if name.endswith(".html")]
            if len(names) < SAMPLE_COUNT_MIN:
                raise ValueError(f"{preview} wrote only {len(names)} samples")
            yield {name: f"http://127.0.0.1:{server.server_port}/{name}" for name in names}
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


def live_pages(cluster: Bridge) -> Dict[str, str]:
    """Targets of the pages of a cluster by name."""
    answer = cluster.do({"do": "send", "node": "web-1", "target": "/search?q=license&format=json"})
    pages = dict(LIVE_PAGES)
    pages["trace"] = "/tracez?id=" + answer["headers"]["traceparent"].split("-")[1]
    pages["document"] = "/doc/%s?q=license" % json.loads(answer["body"])["results"][0]["id"]
    return pages

"""A real HTTP server on loopback that forwards requests to a cluster (scripted_cluster.cc)."""

import http.server
import json
import subprocess
import threading
from typing import Any

STOP_POLL_S = 0.01
# Headers that apply to one connection and are not forwarded; and the codings that the client
# accepts, because the cluster's answers come as text.
NOT_HANDED_ON = ("host", "connection", "transfer-encoding", "content-length", "keep-alive", "date",
                 "server", "accept-encoding")


class Bridge:
    """A simulated cluster whose first frontend is reachable over real HTTP."""
    def __init__(self, program: str, **cluster: Any):
        self._process = subprocess.Popen([program],
                                         stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE,
                                         stderr=subprocess.DEVNULL,
                                         text=True)
        self._lock = threading.Lock()
        self._say(cluster)
        bridge = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self) -> None:
                size = int(self.headers.get("Content-Length", 0))
                seen = bridge.do({
                    "do": "send", "node": "web-1", "method": self.command, "target": self.path,
                    "headers": {
                        name: value
                        for name, value in self.headers.items()
                        if name.lower() not in NOT_HANDED_ON
                    }, "body": self.rfile.read(size).decode()
                })
                body = seen["body"].encode()
                self.send_response(seen["status"])
                for name, value in seen["headers"].items():
                    if name.lower() not in NOT_HANDED_ON:
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                try:
                    self.end_headers()
                    self.wfile.write(body)
                except ConnectionError:
                    pass  # the client has disconnected

            do_GET = do_POST = do_DELETE = answer  # pylint: disable=invalid-name

            def log_message(self, *_) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(STOP_POLL_S,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def _say(self, line: dict) -> None:
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()

    def do(self, step: dict) -> Any:
        with self._lock:
            self._say(step)
            return json.loads(self._process.stdout.readline())

    def run(self, seconds: float) -> None:
        self.do({"do": "run", "ms": int(1000 * seconds)})

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

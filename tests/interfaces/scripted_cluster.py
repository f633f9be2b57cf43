"""Runs a script on a simulated search cluster (scripted_cluster.cc)."""

import json
import subprocess
from typing import Any, Dict, List, NamedTuple, Optional

RUN_LIMIT_S = 120.0


class Answer(NamedTuple):
    method: str
    target: str
    status: int
    headers: Dict[str, str]  # names in lower case
    body: str

    def header(self, name: str) -> str:
        return self.headers.get(name.lower(), "")

    def media_type(self) -> str:
        return self.header("Content-Type").split(";")[0].strip()

    def json(self) -> Any:
        return json.loads(self.body)


def send(target: str,
         method: str = "GET",
         headers: Optional[Dict[str, str]] = None,
         body: str = "",
         node: str = "web-1") -> dict:
    return {
        "do": "send", "node": node, "method": method, "target": target, "headers": headers or {},
        "body": body
    }


def run_script(program: str, steps: List[dict], **script: Any) -> list:
    """Returns the result of each step: an Answer for steps that send."""
    text = "".join(json.dumps(line) + "\n" for line in [script] + steps)
    done = subprocess.run([program],
                          input=text,
                          capture_output=True,
                          text=True,
                          check=False,
                          timeout=RUN_LIMIT_S)
    if done.returncode != 0:
        raise AssertionError(f"scripted_cluster: status {done.returncode}: {done.stderr[-2000:]}")
    return [
        _answer(step, seen) if step["do"] == "send" else seen
        for step, seen in zip(steps, map(json.loads, done.stdout.splitlines()))
    ]


def _answer(step: dict, seen: dict) -> Answer:
    headers = {name.lower(): value for name, value in seen["headers"].items()}
    return Answer(step["method"], step["target"], seen["status"], headers, seen["body"])

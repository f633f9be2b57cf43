"""Checks live answers of simulated clusters against the frontend's description, openapi.json.

Every route is in it and nothing else, every answer obeys it, and it would notice what does not.
"""

import copy
import json
import re
import sys
import unittest
from typing import Any, Iterator, List, Tuple

from json_schema import Checker, resolve, unknown_keywords
from scripted_cluster import Answer, run_script, send

PROGRAM, DOCUMENT = sys.argv.pop(1), sys.argv.pop(1)
HTML = {"Accept": "text/html"}
JSON_TYPE = {"Content-Type": "application/json"}
STORES = ("store-1", "store-2", "store-3", "store-4")
ONE = {
    "url": "http://new.test/1", "title": "Zanzibar", "text": "Cloves of zanzibar.",
    "static_rank": 0.75
}
LINES = [{"url": "http://new.test/2", "html": "<title>Pemba</title>More cloves."},
         {"id": "77777", "url": "http://new.test/3",
          "text": "Mafia island."}, {"delete": "77777"}, {"delete_url": "http://new.test/2"}]


def post(body: Any, key: str = "", **headers: str) -> dict:
    headers = dict(JSON_TYPE, **headers)
    if key:
        headers["Idempotency-Key"] = key
    return send("/documents", "POST", headers, body if isinstance(body, str) else json.dumps(body))


def queries() -> List[dict]:
    return [
        send("/search?q=license&format=" + format) for format in ("json", "html", "rss", "atom")
    ] + [
        send("/search?q=license&format=json&trace=1&start=2&count=2"),
        send("/search?q=license&format=json"),
        send("/search?q=license&format=json&explain=1&facets=site"),
        send("/search?q=license&explain=1&facets=site"),
        send("/search?q=license&format=json&facets=language"),
        send("/search?q=license+after%3A2000&format=json&sort=date"),
        send("/search?q=license&format=json&sort=date"),
        send("/search?q=license&sort=date"),
        # Finds pages, although none has the second word: it names the word that was given up.
        send("/search?q=license+zzqqy&format=json"),
        # The word is demanded and in no page: is relaxed, and finds nothing if it insists.
        send("/search?q=license+%2Bzzqqy&format=json"),
        send("/search?q=license+%2Bzzqqy&format=json&relax=0"),
        send("/search?q=license+%2Bzzqqy+-x&format=json&syntax=plain"),
        send("/search?q=license&format=json&syntax=regex"),
        send("/search?q=license&format=json&relax=2"),
        send("/search?q=licens+-mit+site%3Anosuch&format=json"),
        # Shows another spelling at once, offers one, and does neither.
        send("/search?q=lisense&format=json"),
        send("/search?q=license+xicense&format=json"),
        send("/search?q=lisense&spell=0&format=json"),
        send("/search?format=json"),
        send("/search?format=rss"),
        send("/search?q=a&start=-1"),
        send("/search?q=a&format=json", headers={"X-Api-Key": "nobody's"}),
        send("/search?q=a&format=json", headers={"Neptune-Service-Class": "gold"}),
        send("/search?q=a", headers={"X-Api-Key": "nobody's"}),
        send("/suggest?q=lice"),
        send("/suggest?q=%"),
        send("/suggest?q=a", headers={"X-Api-Key": "nobody's"}),
        send("/suggest?q=a", headers={"Neptune-Service-Class": "gold"})
    ]


def pages(routes: List[dict]) -> List[dict]:
    names = [
        route["path"] for route in routes if route["method"] == "GET" and not route["is_prefix"]
    ]
    return [send(name) for name in names if name not in ("/search", "/suggest")] + [
        send("/doc/1"),
        send("/doc/1?format=json"),
        send("/doc/1", headers={"Accept": "application/json"}),
        send("/doc/x"),
        send("/doc/x?format=json", headers=HTML),
        send("/doc/x", headers=HTML),
        send("/readyz?complete=1"),
        send("/console?format=json"),
        send("/console?refresh=never"),
        send("/tracez?format=json"),
        send("/tracez?id=none&format=json"),
        send("/tracez?id=none"),
        send("/statusz?format=json"),
        send("/statusz")
    ]


def changes() -> List[dict]:
    ndjson = {"Content-Type": "application/x-ndjson"}
    return [
        post(ONE),
        post(ONE, key="one"),
        post(dict(ONE, title="Other"), key="one"),
        post("{"),
        post({"title": "no url"}),
        post(ONE, **{"Neptune-Service-Class": "gold"}),
        post(ONE, **{"X-Api-Key": "nobody's"}),
        post(ONE, Authorization="Bearer a-wrong-token"),
        post(ONE, **{"Sec-Fetch-Site": "cross-site"}),
        post(ONE, key="k" * 256),
        send("/documents", "POST", {"Content-Type": "text/plain"}, "x"),
        send("/documents", "POST", ndjson, "\n".join(map(json.dumps, LINES)) + "\n{\"x\": 1}\n"),
        send("/documents", "POST", ndjson, "{}\n" * 1001),
        send("/documents/77777", "DELETE"),
        send("/documents/x", "DELETE"),
        send("/documents?url=http%3A%2F%2Fnew.test%2F1", "DELETE"),
        send("/documents", "DELETE"),
        send("/documents/77777", "DELETE", {"X-Api-Key": "nobody's"})
    ]


def objects(value: Any, path: Tuple = ()) -> Iterator[Tuple]:
    """Returns the paths of all objects inside the value."""
    if isinstance(value, dict):
        yield path
    members = value.items() if isinstance(
        value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        yield from objects(member, path + (name,))


class Api:
    """The OpenAPI description, to check answers against."""
    def __init__(self, document: dict):
        self.document = document
        self.checker = Checker(document)

    def template_of(self, path: str) -> str:
        exact = [name for name in self.document["paths"] if name == path]
        like = [
            name for name in self.document["paths"]
            if re.fullmatch(re.sub(r"\\\{[a-z]+\\\}", "[^/]+", re.escape(name)), path)
        ]
        found = exact or like
        return found[0] if found else ""

    def response_of(self, answer: Answer) -> dict:
        """Returns the description of such an answer. Raises KeyError."""
        path = self.template_of(answer.target.split("?")[0])
        operation = self.document["paths"][path][answer.method.lower()]
        response = operation["responses"][str(answer.status)]
        return resolve(self.document, response["$ref"]) if "$ref" in response else response

    def schema_of(self, answer: Answer) -> dict:
        return self.response_of(answer)["content"][answer.media_type()]["schema"]

    def problems(self, answer: Answer) -> List[str]:
        try:
            schema = self.schema_of(answer)
            headers = self.response_of(answer).get("headers", {})
        except KeyError as error:
            return [f"not described: {error}"]
        found = []
        for name, header in headers.items():
            found += list(
                self.checker.problems(header["schema"], answer.headers.get(name.lower()), name))
        value = answer.json() if answer.media_type().endswith("json") else answer.body
        return found + list(self.checker.problems(schema, value))


class ApiTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        with open(DOCUMENT, encoding="utf-8") as file:
            cls.document = json.load(file)
        cls.api = Api(cls.document)
        parameters = [["frontend", "trust_class_header", "false"],
                      ["frontend", "document_write_timeout_ms", "1000"]]
        cls.routes = run_script(PROGRAM, [{"do": "routes", "node": "web-1"}], live=True)[0]
        alive = [{"do": "run", "ms": 2000}] + pages(cls.routes) + queries() + changes()
        partial = [{"do": "kill", "node": "store-1"}, {"do": "kill", "node": "store-2"},
                   send("/search?q=license&format=json", headers={"Cache-Control": "no-cache"}),
                   send("/tracez?format=json"),
                   send("/console?format=json"), {"do": "kill", "node": "store-3"},
                   {"do": "kill", "node": "store-4"}, {"do": "run", "ms": 5000}]
        dead = [
            send("/search?q=license&format=" + format, headers={"Cache-Control": "no-cache"})
            for format in ("json", "html", "atom")
        ] + [
            send("/readyz"),
            send("/doc/1"),
            post(ONE),
            send("/documents/1", "DELETE"),
            send("/tracez?format=json")
        ]
        seen = run_script(PROGRAM, alive + partial + dead, live=True, parameters=parameters)
        cls.answers = [answer for answer in seen if isinstance(answer, Answer)]
        cls.answers += cls.kept_trace(seen)
        cls.answers += cls.too_often()

    @classmethod
    def kept_trace(cls, seen: list) -> List[Answer]:
        trace = next(
            answer.header("traceparent").split("-")[1]
            for answer in seen
            if isinstance(answer, Answer) and answer.target == "/search?q=license&format=json")
        # The same seed and the same requests give the same trace.
        steps = [{"do": "run", "ms": 2000}] + pages(cls.routes) + queries() + [
            send(f"/tracez?id={trace}&format=json"),
            send(f"/tracez?id={trace}")
        ]
        return run_script(PROGRAM,
                          steps,
                          live=True,
                          parameters=[["frontend", "trust_class_header", "false"]])[-2:]

    @classmethod
    def too_often(cls) -> List[Answer]:
        steps = [
            send("/search?q=a&format=json", headers={"X-Api-Key": "gold-test-key"}),
            send("/search?q=a&format=json", headers={"X-Api-Key": "gold-test-key"}),
            send("/suggest?q=a", headers={"X-Api-Key": "gold-test-key"}),
            send("/doc/1", headers={"X-Api-Key": "gold-test-key"})
        ]
        return run_script(PROGRAM,
                          steps,
                          parameters=[["frontend", "http_rate_per_second", "0.01"],
                                      ["frontend", "http_rate_burst", "1"]])

    def test_it_is_served_unchanged(self) -> None:
        served = [answer for answer in self.answers if answer.target == "/openapi.json"]
        self.assertEqual(served[0].json(), self.document)

    def test_the_routes_are_those_of_the_router(self) -> None:
        described = {(method.upper(), name)
                     for name, path in self.document["paths"].items()
                     for method in path}
        routed = set()
        for route in self.routes:
            path = route["path"] + ("1" if route["is_prefix"] else "")
            routed.add((route["method"], self.api.template_of(path) or path))
        self.assertEqual(described, routed)

    def test_every_answer_conforms(self) -> None:
        for answer in self.answers:
            with self.subTest(f"{answer.method} {answer.target} {answer.status}"):
                self.assertEqual(self.api.problems(answer), [], answer.body[:500])

    def test_what_does_not_change_is_confirmed(self) -> None:
        paths = [
            name for name, path in self.document["paths"].items()
            if "304" in path.get("get", {}).get("responses", {})
        ]
        routes = [route["path"] for route in self.routes if self.api.template_of(route["path"]) in paths]
        self.assertEqual(len(routes), 7)
        for answer in run_script(PROGRAM,
                                 [send(route, headers={"If-None-Match": "*"}) for route in routes]):
            self.assertEqual((answer.status, answer.body), (304, ""), answer.target)
            self.assertTrue(answer.header("ETag"))

    def test_json_is_one_line_unless_indented(self) -> None:
        targets = [
            "/search?q=license&format=json", "/search?format=json", "/suggest?q=lice", "/readyz",
            "/doc/1?format=json", "/console?format=json", "/tracez?format=json",
            "/statusz?format=json"
        ]
        steps = [{"do": "run", "ms": 2000}]
        for target in targets:
            steps += [send(target), send(target + ("&" if "?" in target else "?") + "pretty=1")]
        answers = [a for a in run_script(PROGRAM, steps, live=True) if isinstance(a, Answer)]
        for compact, indented in zip(answers[::2], answers[1::2]):
            self.assertNotIn("\n", compact.body.rstrip("\n"), compact.target)
            self.assertIn("\n ", indented.body, indented.target)
            self.assertEqual(self.api.problems(indented), [])
            self.assertEqual(compact.json().keys() if isinstance(compact.json(), dict) else 2,
                             indented.json().keys() if isinstance(indented.json(), dict) else 2)

    def test_matches_are_words_of_the_snippet(self) -> None:
        answer = next(a for a in self.answers if a.target == "/search?q=license&format=json")
        words = {
            result["snippet"][begin:end].lower()
            for result in answer.json()["results"] for begin, end in result["snippet_matches"]
        }
        self.assertTrue(words)
        self.assertTrue(all(word.startswith("licen") for word in words), words)

    def test_every_route_and_client_error_occurred(self) -> None:
        seen = {(answer.method.lower(), self.api.template_of(answer.target.split("?")[0]),
                 str(answer.status)) for answer in self.answers}
        for name, path in self.document["paths"].items():
            for method, operation in path.items():
                self.assertIn((method, name, "200"), seen)
        wanted = {"200", "400", "401", "403", "404", "409", "413", "415", "429", "503"}
        self.assertLessEqual(wanted, {status for _, _, status in seen})

    def test_every_schema_is_used(self) -> None:
        checker = Checker(self.document)
        api = Api(self.document)
        api.checker = checker
        for answer in self.answers:
            api.problems(answer)
        for edit in [ONE] + LINES:
            self.assertEqual(
                list(checker.problems({"$ref": "#/components/schemas/BulkLine"}, edit)), [])
        followed = {name.rsplit("/", 1)[1] for name in checker.followed}
        self.assertEqual(followed, set(self.document["components"]["schemas"]))

    def test_undocumented_members_are_noticed_everywhere(self) -> None:
        checked = 0
        for answer in self.answers:
            if not answer.media_type().endswith("json") or answer.target == "/openapi.json":
                continue
            schema, value = self.api.schema_of(answer), answer.json()
            for path in objects(value):
                changed = copy.deepcopy(value)
                place = changed
                for name in path:
                    place = place[name]
                place["unheard-of"] = {"of": 1}
                self.assertNotEqual(list(self.api.checker.problems(schema, changed)), [],
                                    f"{answer.target}: {path}")
                checked += 1
        self.assertGreater(checked, 100)

    def test_a_missing_member_and_a_wrong_type_are_noticed(self) -> None:
        answer = next(a for a in self.answers if a.target == "/search?q=license&format=json")
        schema = self.api.schema_of(answer)
        for name in answer.json():
            value = answer.json()
            del value[name]
            self.assertNotEqual(list(self.api.checker.problems(schema, value)), [], name)
            self.assertNotEqual(
                list(self.api.checker.problems(schema, dict(answer.json(), **{name: {}}))), [],
                name)

    def test_a_keyword_that_is_not_checked_is_noticed(self) -> None:
        schemas = self.document["components"]["schemas"]
        for path in objects(schemas):
            changed = copy.deepcopy(schemas)
            place = changed
            for name in path:
                place = place[name]
            if "type" not in place or path[-1] == "properties":
                continue
            place["unheard-of"] = 1
            for name in changed:
                found = list(unknown_keywords(changed[name]))
                self.assertEqual(found, ["unheard-of"] if name == path[0] else [], path)

    def test_a_wrong_format_and_an_unknown_one_are_noticed(self) -> None:
        date = {"type": "string", "format": "date"}
        self.assertEqual(list(self.api.checker.problems(date, "2024-02-29")), [])
        self.assertNotEqual(list(self.api.checker.problems(date, "2023-02-29")), [])
        self.assertEqual(list(unknown_keywords({"items": {"format": "unheard-of"}})), ["format unheard-of"])

    def test_objects_are_closed(self) -> None:
        for path in objects(self.document["components"]["schemas"]):
            schema = self.document["components"]["schemas"]
            for name in path:
                schema = schema[name]
            if "properties" in schema and "type" in schema and path[-1] != "properties":
                self.assertIs(schema.get("additionalProperties"), False, path)

    def test_an_unknown_page_and_method_are_problems(self) -> None:
        steps = [send("/nothing"), send("/search", "POST"), send("/nothing", headers=HTML)]
        for answer in run_script(PROGRAM, steps)[:2]:
            problem = self.document["components"]["responses"]["Problem"]
            schema = problem["content"][answer.media_type()]["schema"]
            self.assertEqual(list(self.api.checker.problems(schema, answer.json())), [])


if __name__ == "__main__":
    unittest.main()

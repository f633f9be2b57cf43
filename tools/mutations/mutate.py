"""Plants known bugs in the product's code, one at a time, and reports whether the tests find them.

A bug is one line of mutations.json: a line of a source file that occurs in it once, what it becomes, and the test that
must fail then. The bugs are planted in a copy of the tree, a git worktree that is kept, so that a bug costs the build of
what it touches only.

    python3 tools/mutations/mutate.py --check               # every line is still there
    python3 tools/mutations/mutate.py                       # plants all: hours on a small machine at first
    python3 tools/mutations/mutate.py --area=lane,restore   # some of them
    python3 tools/mutations/mutate.py --name=log_is_not_synced

Exit status: 0 all bugs are found, 1 one is not, or a test fails without one, 2 the list does not fit the tree.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

AREAS = ("storage", "agent", "executor", "restore", "lane")
FIELDS = ("name", "area", "file", "before", "after", "test")
# Exit statuses of `bazel test`.
PASSED, BUILD_FAILED, TESTS_FAILED = 0, 1, 3
TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def read_list(path):
    with open(path, encoding="utf-8") as text:
        return json.load(text)


def list_errors(mutations, tree):
    """Why the list does not fit the tree, a line each."""
    errors = []
    names = set()
    for one in mutations:
        name = one.get("name", "?")
        missing = [field for field in FIELDS if not isinstance(one.get(field), str)]
        if missing:
            errors.append(f"{name}: no {', '.join(missing)}")
            continue
        if name in names:
            errors.append(f"{name}: the name occurs twice")
        names.add(name)
        if one["area"] not in AREAS:
            errors.append(f"{name}: no area is called {one['area']}")
        if one["before"] == one["after"]:
            errors.append(f"{name}: it changes nothing")
        errors.extend(f"{name}: {error}" for error in place_errors(one, tree))
    return errors


def place_errors(one, tree):
    path = os.path.join(tree, one["file"])
    if not os.path.exists(path):
        return [f"{one['file']} does not exist"]
    with open(path, encoding="utf-8") as source:
        count = source.read().split("\n").count(one["before"])
    errors = [] if count == 1 else [f"its line occurs {count} times in {one['file']}"]
    package, _, target = one["test"].removeprefix("//").partition(":")
    build = os.path.join(tree, package, "BUILD")
    if not os.path.exists(build):
        return errors + [f"{one['test']} does not exist"]
    with open(build, encoding="utf-8") as text:
        if f'name = "{target}"' not in text.read():
            errors.append(f"{one['test']} does not exist")
    return errors


def mutated(text, one):
    return "\n".join(one["after"] if line == one["before"] else line for line in text.split("\n"))


def chosen(mutations, areas, names):
    unknown = [name for name in names if name not in {one["name"] for one in mutations}]
    unknown += [area for area in areas if area not in AREAS]
    if unknown:
        raise ValueError(f"unknown: {', '.join(unknown)}")
    return [one for one in mutations
            if (not areas or one["area"] in areas) and (not names or one["name"] in names)]


def verdict(status):
    if status == TESTS_FAILED:
        return "found"
    if status == PASSED:
        return "NOT FOUND"
    return "does not build" if status == BUILD_FAILED else f"no verdict, status {status}"


def run_tests(tree, targets, jobs):
    """The exit status of the tests; they are not taken from the cache of a run without the bug, since a file differs."""
    command = ["bazel", "test", "--test_output=errors", "--noshow_progress"]
    if jobs:
        command.append(f"--jobs={jobs}")
    done = subprocess.run(command + targets, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def make_copy(copy):
    """A worktree at the commit of this tree, with what is changed in it."""
    commit = subprocess.run(["git", "stash", "create"], cwd=TREE, capture_output=True, check=True).stdout.decode().strip()
    commit = commit or "HEAD"
    if not os.path.exists(os.path.join(copy, ".git")):
        subprocess.run(["git", "worktree", "add", "--detach", copy, commit], cwd=TREE, check=True)
    resolved = subprocess.run(["git", "rev-parse", commit], cwd=TREE, capture_output=True, check=True)
    subprocess.run(["git", "checkout", "--force", "--detach", resolved.stdout.decode().strip()], cwd=copy, check=True)


def plant(one, copy, jobs):
    """Runs the test with the bug; the file is as before afterwards."""
    path = os.path.join(copy, one["file"])
    with open(path, encoding="utf-8") as source:
        before = source.read()
    try:
        with open(path, "w", encoding="utf-8") as source:
            source.write(mutated(before, one))
        status, output = run_tests(copy, [one["test"]], jobs)
    finally:
        with open(path, "w", encoding="utf-8") as source:
            source.write(before)
    if status not in (PASSED, TESTS_FAILED):
        print(output[-4000:], file=sys.stderr)
    return verdict(status)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only compare the list with the tree")
    parser.add_argument("--area", default="", help="areas, separated by commas")
    parser.add_argument("--name", default="", help="names, separated by commas")
    parser.add_argument("--jobs", type=int, default=0, help="as bazel's")
    parser.add_argument("--copy", default=os.path.join(tempfile.gettempdir(), "neptune-mutations"),
                        help="folder of the copy, which is kept")
    return parser.parse_args(arguments)


def main(arguments):
    options = parse(arguments)
    mutations = read_list(os.path.join(TREE, "tools/mutations/mutations.json"))
    errors = list_errors(mutations, TREE)
    try:
        mutations = chosen(mutations, [a for a in options.area.split(",") if a],
                           [n for n in options.name.split(",") if n])
    except ValueError as error:
        errors.append(str(error))
    for error in errors:
        print(f"mutate: {error}", file=sys.stderr)
    if errors or options.check:
        return 2 if errors else 0
    make_copy(options.copy)
    status, output = run_tests(options.copy, sorted({one["test"] for one in mutations}), options.jobs)
    if status != PASSED:
        print(output[-4000:], file=sys.stderr)
        print("mutate: the tests fail without a bug", file=sys.stderr)
        return 1
    found = 0
    for one in mutations:
        result = plant(one, options.copy, options.jobs)
        found += result == "found"
        print(f"{one['area']:9} {one['name']:50} {result}", flush=True)
    print(f"{found} of {len(mutations)} planted bugs found")
    return 0 if found == len(mutations) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

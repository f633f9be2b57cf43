"""Measures how large cached answers are and what they cost, and writes them as a table for cache_sim.

  measure_answers.py --url=http://127.0.0.1:8080 --admin=http://127.0.0.1:9080 --pid=PID \\
      --queries=FILE --count=4000 --out=answers.tsv

The server is one process with an empty query cache that is larger than all answers. Each query is asked once. Its
cost is the processor time of all threads of the process until the answer is there, its size what the cache grew by,
without what it counts for each entry. Queries that are not inserted (equal to an earlier one, or partial answers)
are left out. The table has no queries.
"""

import argparse
import glob
import time
import urllib.error
import urllib.parse
import urllib.request

ENTRY_OVERHEAD = 256  # kMemoryEntryOverhead of cache/memory/memory_shard.h
INSERT_TIMEOUT_S = 1.0


def fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return answer.read().decode()


def processor_us(pid: int) -> int:
    """Time on a processor of all threads, from the kernel's scheduler."""
    total_ns = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        try:
            with open(path) as file:
                total_ns += int(file.read().split()[0])
        except FileNotFoundError:  # the thread has ended
            continue
    return total_ns // 1000


def cache_state(admin: str) -> tuple[int, int]:
    """Entries and bytes of the cache."""
    sums = {"search_cache_entries": 0.0, "search_cache_size_bytes": 0.0}
    for line in fetch(admin + "/metrics").splitlines():
        name = line.split("{")[0]
        if name in sums:
            sums[name] += float(line.rsplit(" ", 1)[1])
    return int(sums["search_cache_entries"]), int(sums["search_cache_size_bytes"])


def measure(options: argparse.Namespace, query: str, before: tuple[int, int]) -> tuple[int, int] | None:
    """Size and cost of the answer to one query; None if it was not cached."""
    started = processor_us(options.pid)
    try:
        fetch(options.url + "/search?" + urllib.parse.urlencode({"q": query, "format": "json"}))
    except urllib.error.HTTPError:
        return None
    cost = processor_us(options.pid) - started
    deadline = time.monotonic() + INSERT_TIMEOUT_S
    while time.monotonic() < deadline:
        entries, size = cache_state(options.admin)
        if entries == before[0] + 1:
            return size - before[1] - ENTRY_OVERHEAD, max(1, cost)
        time.sleep(0.002)
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True, help="a frontend")
    parser.add_argument("--admin", required=True, help="the process's administration pages")
    parser.add_argument("--pid", type=int, required=True, help="the process")
    parser.add_argument("--queries", required=True, help="one a line")
    parser.add_argument("--count", type=int, default=4000, help="rows to write")
    parser.add_argument("--out", required=True, help="the table")
    options = parser.parse_args()
    rows: list[tuple[int, int]] = []
    seen = set()
    with open(options.queries, encoding="utf-8") as queries:
        for line in queries:
            query = line.strip()
            if not query or query in seen:
                continue
            seen.add(query)
            row = measure(options, query, cache_state(options.admin))
            if row is not None:
                rows.append(row)
            if len(rows) == options.count:
                break
    with open(options.out, "w") as out:
        out.write("# bytes of a cached answer, microseconds of processor time to make it\n")
        out.writelines(f"{size}\t{cost}\n" for size, cost in rows)
    print(f"{len(rows)} answers of {len(seen)} queries")


if __name__ == "__main__":
    main()

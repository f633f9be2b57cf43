"""The commands of the program `neptune`: the only list of them, from which its own list, completions and manual
pages are made."""

def _command(name, program, group, summary, words = [], also = []):
    """One command.

    Args:
      name: what is typed after `neptune`.
      program: the target that does it.
      group: the heading under which `neptune help` shows it.
      summary: one line, without a full stop.
      words: what its first argument may be, if that is one of a few words.
      also: other names that are understood.

    Returns:
      The command.
    """
    return struct(name = name, program = program, group = group, summary = summary, words = words, also = also)

_DOCUMENTS = "Documents and indexes"
_CLUSTER = "Cluster"
_LOAD = "Load"
_RESEARCH = "Measurements"

COMMANDS = [
    _command("index", "//tools/neptune:index_documents", _DOCUMENTS, "make your own documents searchable"),
    _command("corpus", "//tools/corpus:corpus", _DOCUMENTS, "fetch documents and convert them to JSON Lines"),
    _command("build_index", "//tools/build_index:build_index", _DOCUMENTS, "build an index from JSON Lines"),
    _command(
        "ciff",
        "//tools/ciff:ciff",
        _DOCUMENTS,
        "convert an index to and from the Common Index File Format",
        words = ["export", "import"],
    ),
    _command("doctor", "//tools/neptune:doctor", _CLUSTER, "say what this machine lacks, and the remedy"),
    _command("up", "//tools:up", _CLUSTER, "from a source tree, or your own documents, to a running cluster"),
    _command("cluster", "//tools/cluster:cluster", _CLUSTER, "start, supervise and control a cluster"),
    _command("search", "//tools/search:search", _CLUSTER, "send a query to a running cluster"),
    _command("publish", "//tools/publish:publish", _CLUSTER, "publish a new version of the index, or roll it back"),
    _command("deploy", "//tools/deploy:deploy", _CLUSTER, "write systemd units, Kubernetes manifests or a host list"),
    _command("certificates", "//tools/cluster:certificates", _CLUSTER, "issue certificates and change the cluster key"),
    _command("trace", "//tools/trace:make_trace", _LOAD, "make, import, cut, merge and describe query traces", also = ["make_trace"]),
    _command("replay", "//tools/replay:replay", _LOAD, "replay a trace and report what users saw"),
    _command("capacity", "//tools/capacity:capacity", _LOAD, "find the highest rate that meets a goal"),
    _command("compare", "//tools/compare:compare", _LOAD, "compare replay runs, with 95 % intervals"),
    _command(
        "mtrr",
        "//tools/mtrr:mtrr",
        _LOAD,
        "allocate threads to service classes",
        words = ["profile", "predict", "plan", "apply", "watch"],
    ),
    _command("evaluate", "//tools/evaluate:evaluate", _RESEARCH, "measure the ranking on judged queries"),
    _command(
        "bench_index",
        "//tools/bench_index:bench_index",
        _RESEARCH,
        "compare the speed of the index core with other engines",
        words = ["build", "query", "compare", "agree"],
    ),
    _command("cache_sim", "//tools/cache_sim:cache_sim", _RESEARCH, "compare eviction policies of the query cache"),
    _command("chaos", "//tools/chaos:chaos", _RESEARCH, "give nodes faults and check what clients saw"),
    _command("lab", "//tools/lab:lab", _RESEARCH, "run the experiments of the papers", words = ["list", "run", "report"]),
]

def path_of(label):
    """The path of a program, as in "tools/search/search" for "//tools/search:search"."""
    return label[2:].replace(":", "/")

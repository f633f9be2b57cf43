// The program //tools:build_index: builds an index from JSON Lines.

#include <gflags/gflags.h>
#include <signal.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>

#include "neptune/base/strings.h"
#include "tools/build_index/build.h"
#include "tools/terminal/caller_path.h"
#include "tools/terminal/command_line.h"

DEFINE_string(input, "",
              "JSON Lines files (plain, .gz or .zst), separated by commas; default: "
              "data/var/corpora/small.jsonl.zst of the source tree");
DEFINE_string(out, "", "folder of the index; default: data/var/index of the source tree");
DEFINE_uint32(partitions, 4, "partitions of each index tier, 1 to 256");
DEFINE_uint32(doc_partitions, 2, "partitions of the document stores, 1 to 256");
DEFINE_double(tier1_share, 0.25, "fraction of the documents in tier 1, 0 to 1");
DEFINE_string(tier1_queries, "",
              "traces or access logs of frontends, separated by commas: the documents that their "
              "questions find first are in tier 1; default: none, static rank alone decides");
DEFINE_uint64(one_tier_documents_max, 100'000,
              "a collection of at most this many documents is in tier 1 as a whole");
DEFINE_string(index_tiers, "segment",
              "variants of the index tier to build, separated by commas: segment, "
              "rocksdb_postings, xapian; the "
              "first is in tier1/ and tier2/, others are in tier1.NAME/ and tier2.NAME/");
DEFINE_string(document_stores, "rocksdb",
              "document stores to build, separated by commas: rocksdb, flat_file; the first is in "
              "docs/, others are in docs.NAME/");
DEFINE_string(id_url_prefix, "id:", "prefix of `id` for an object without `url`");
DEFINE_string(site, "", "site of documents without a site");
DEFINE_string(synonyms, "",
              "file of synonyms for the frontends (index/core/query/synonyms.h); default: that of "
              "the documentation corpora if no --input is given, else none");
DEFINE_string(asked_queries, "",
              "traces or access logs of frontends, separated by commas, whose frequent queries are "
              "suggested; default: none, only what documents say is suggested");
DEFINE_uint32(asked_hours_min, 10,
              "number of different hours, at least 3, in which a query must have been asked");
DEFINE_bool(strict, false, "stop at the first bad line instead of counting it");
DEFINE_int32(threads, 2, "segments and stores built in parallel, 1 to 64");
DEFINE_uint64(memory_mb, 1024, "memory limit of the whole build in MiB, at least 256");
DEFINE_bool(verify, false, "build nothing; check every file of the index in --out");

namespace search::tools {
namespace {

using neptune::Status;
using neptune::StrCat;

constexpr char kUsage[] =
    "Builds an index from JSON Lines: both tiers, document stores, statistics, manifest.\n\n"
    "  bazel run //tools:build_index\n"
    "  bazel run //tools:build_index -- --input=a.jsonl.zst,b.jsonl --out=index --partitions=8\n"
    "  bazel run //tools:build_index -- --out=index --verify\n\n"
    "A build that was stopped or killed continues when the same command is run again.";

volatile std::sig_atomic_t stop_asked = 0;

void AskToStop(int) {
  stop_asked = 1;
  // A second Ctrl-C ends the program at once.
  signal(SIGINT, SIG_DFL);
}

Status Verify(const std::string& folder) {
  NEPTUNE_ASSIGN_OR_RETURN(const IndexManifest manifest, ReadIndexManifest(folder));
  NEPTUNE_RETURN_IF_ERROR(VerifyIndexFiles(folder, manifest));
  printf("%s: version %llu, %zu files intact\n", folder.c_str(),
         static_cast<unsigned long long>(manifest.index_version), manifest.files.size());
  return neptune::OkStatus();
}

BuildOptions OptionsFromFlags(const std::string& folder) {
  BuildOptions options;
  for (const std::string& input : SplitList(FLAGS_input)) {
    options.inputs.push_back(CallerPath(input));
  }
  options.synonyms = FLAGS_synonyms.empty() ? "" : CallerPath(FLAGS_synonyms);
  if (options.inputs.empty()) {
    options.inputs = {ProjectOutputPath("data/var/corpora/small.jsonl.zst")};
    const std::string synonyms = ProjectPath("data/corpora/documentation.synonyms");
    if (options.synonyms.empty() && std::filesystem::exists(synonyms)) options.synonyms = synonyms;
  }
  for (const std::string& log : SplitList(FLAGS_asked_queries)) {
    options.asked_queries.push_back(CallerPath(log));
  }
  options.asked_hours_min = FLAGS_asked_hours_min;
  options.folder = folder;
  options.partition_count = FLAGS_partitions;
  options.document_partition_count = FLAGS_doc_partitions;
  options.tier1_share = FLAGS_tier1_share;
  for (const std::string& log : SplitList(FLAGS_tier1_queries)) {
    options.tier1_queries.push_back(CallerPath(log));
  }
  options.one_tier_documents_max = FLAGS_one_tier_documents_max;
  options.index_tiers = SplitList(FLAGS_index_tiers);
  options.document_stores = SplitList(FLAGS_document_stores);
  options.lines = {.id_url_prefix = FLAGS_id_url_prefix, .default_site = FLAGS_site};
  options.fail_on_bad_lines = FLAGS_strict;
  options.thread_count = FLAGS_threads;
  options.memory_mb = FLAGS_memory_mb;
  options.clock = &MonotonicNanoseconds;
  options.progress_out = stderr;
  options.report = [](const std::string& line) { fprintf(stderr, "%s\n", line.c_str()); };
  options.interrupted = [] { return stop_asked != 0; };
  return options;
}

Status Run() {
  const std::string folder =
      FLAGS_out.empty() ? ProjectOutputPath("data/var/index") : CallerPath(FLAGS_out);
  if (FLAGS_verify) return Verify(folder);
  signal(SIGINT, AskToStop);
  signal(SIGTERM, AskToStop);
  const BuildOptions options = OptionsFromFlags(folder);
  if (FLAGS_input.empty() && !std::filesystem::exists(options.inputs[0])) {
    return neptune::NotFound("no ", options.inputs[0],
                             "; run `bazel run //tools:corpus` first, or name an --input");
  }
  NEPTUNE_ASSIGN_OR_RETURN(const IndexManifest manifest, BuildIndex(options));
  fprintf(stderr, "%s: index version %llu, %s documents\n", folder.c_str(),
          static_cast<unsigned long long>(manifest.index_version),
          WithThousands(manifest.document_count).c_str());
  return neptune::OkStatus();
}

}  // namespace
}  // namespace search::tools

int main(int argc, char** argv) {
  const auto rest = search::tools::ParseCommandLine(&argc, &argv, search::tools::kUsage, __FILE__);
  if (!rest.empty()) {
    fprintf(stderr, "build_index: unexpected argument '%s'; see --help\n", rest[0].c_str());
    return 2;
  }
  return search::tools::ExitStatus(search::tools::Run(), "build_index");
}

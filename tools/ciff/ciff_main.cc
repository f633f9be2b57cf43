// The program //tools:ciff: an index from and to the Common Index File Format.

#include <gflags/gflags.h>
#include <signal.h>

#include <csignal>
#include <cstdio>
#include <string>

#include "tools/ciff/ciff_export.h"
#include "tools/ciff/ciff_import.h"
#include "tools/terminal/caller_path.h"
#include "tools/terminal/command_line.h"

DEFINE_string(index, "", "export: folder of the index; default: data/var/index");
DEFINE_string(input, "", "import: input file, plain, .gz or .zst");
DEFINE_string(out, "", "export: output file; import: folder of the new index");
DEFINE_string(description, "", "export: description stored in the file");
DEFINE_uint32(partitions, 4, "import: partitions of each index tier, 1 to 64");
DEFINE_uint32(doc_partitions, 2, "import: partitions of the document store, 1 to 64");
DEFINE_double(tier1_share, 1, "import: share of the documents in tier 1, taken from the beginning");
DEFINE_string(document_store, "rocksdb", "import: document store: rocksdb, flat_file");

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::Status;

constexpr char kUsage[] =
    "Writes an index as a file in the Common Index File Format, or makes an index from one.\n\n"
    "  bazel run //tools:ciff -- export --index=DIR --out=index.ciff.zst\n"
    "  bazel run //tools:ciff -- import --input=robust04.ciff.gz --out=DIR --partitions=4\n\n"
    "An imported index has no positions (phrases are refused), titles or texts. Its words are "
    "taken\n"
    "as they are: they are found if they were folded and stemmed as our queries are.";

volatile std::sig_atomic_t stop_asked = 0;

void AskToStop(int) {
  stop_asked = 1;
  signal(SIGINT, SIG_DFL);
}

Status Export() {
  if (FLAGS_out.empty()) return InvalidArgument("export: name the file with --out");
  CiffExportOptions options;
  options.folder =
      FLAGS_index.empty() ? ProjectOutputPath("data/var/index") : CallerPath(FLAGS_index);
  options.output = CallerPath(FLAGS_out);
  options.description = FLAGS_description;
  options.progress_out = stderr;
  options.clock = &MonotonicNanoseconds;
  NEPTUNE_ASSIGN_OR_RETURN(const CiffCounts counts, ExportCiff(options));
  fprintf(stderr, "%s: %s documents, %s words, %s postings\n", options.output.c_str(),
          WithThousands(counts.documents).c_str(), WithThousands(counts.terms).c_str(),
          WithThousands(counts.postings).c_str());
  return neptune::OkStatus();
}

Status Import() {
  if (FLAGS_input.empty()) return InvalidArgument("import: name the file with --input");
  if (FLAGS_out.empty()) return InvalidArgument("import: name the index's folder with --out");
  signal(SIGINT, AskToStop);
  signal(SIGTERM, AskToStop);
  CiffImportOptions options;
  options.input = CallerPath(FLAGS_input);
  options.folder = CallerPath(FLAGS_out);
  options.partition_count = FLAGS_partitions;
  options.document_partition_count = FLAGS_doc_partitions;
  options.tier1_share = FLAGS_tier1_share;
  options.document_store = FLAGS_document_store;
  options.progress_out = stderr;
  options.clock = &MonotonicNanoseconds;
  options.interrupted = [] { return stop_asked != 0; };
  NEPTUNE_ASSIGN_OR_RETURN(const CiffImportReport report, ImportCiff(options));
  fprintf(stderr,
          "%s: index version %llu, %s documents, %s words, %s postings; %s words skipped; no "
          "positions: phrases are refused\n",
          options.folder.c_str(), static_cast<unsigned long long>(report.index_version),
          WithThousands(report.documents).c_str(), WithThousands(report.terms).c_str(),
          WithThousands(report.postings).c_str(), WithThousands(report.terms_left_out).c_str());
  return neptune::OkStatus();
}

Status Run(const std::vector<std::string>& words) {
  if (words.size() == 1 && words[0] == "export") return Export();
  if (words.size() == 1 && words[0] == "import") return Import();
  return InvalidArgument("name the command, export or import; see --help");
}

}  // namespace
}  // namespace search::tools

int main(int argc, char** argv) {
  const auto words = search::tools::ParseCommandLine(&argc, &argv, search::tools::kUsage, __FILE__);
  return search::tools::ExitStatus(search::tools::Run(words), "ciff");
}

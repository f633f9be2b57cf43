// The program //tools:ciff: converts an index to and from the Common Index File Format.

#include <gflags/gflags.h>
#include <signal.h>

#include <csignal>
#include <cstdio>
#include <string>

#include "tools/ciff/ciff_export.h"
#include "tools/ciff/ciff_import.h"
#include "tools/terminal/caller_path.h"
#include "tools/terminal/command_line.h"

DEFINE_string(index, "", "export: folder of the index; by default data/var/index");
DEFINE_string(input, "", "import: the file, plain, .gz or .zst");
DEFINE_string(out, "", "the file to write (export), the folder of the index to make (import)");
DEFINE_string(description, "", "export: description that is stored in the file");
DEFINE_uint32(partitions, 4, "import: partitions of each index tier, 1 to 64");
DEFINE_uint32(doc_partitions, 2, "import: partitions of the document store, 1 to 64");
DEFINE_double(tier1_share, 1,
              "import: fraction of the documents, counted from the first, in tier 1");
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
    "as they are: queries find them only if they were folded and stemmed as our queries are.";

volatile std::sig_atomic_t stop_asked = 0;

void AskToStop(int) {
  stop_asked = 1;
  signal(SIGINT, SIG_DFL);
}

Status Export() {
  if (FLAGS_out.empty()) return InvalidArgument("export: --out must name the file to write");
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
  if (FLAGS_input.empty()) return InvalidArgument("import: --input must name the file");
  if (FLAGS_out.empty()) return InvalidArgument("import: --out must name the folder of the index");
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
  return InvalidArgument("the command must be export or import; see --help");
}

}  // namespace
}  // namespace search::tools

int main(int argc, char** argv) {
  const auto words = search::tools::ParseCommandLine(&argc, &argv, search::tools::kUsage, __FILE__);
  return search::tools::ExitStatus(search::tools::Run(words), "ciff");
}

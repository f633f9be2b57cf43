// Imports any bytes as a file in the Common Index File Format: refused without leaving an index, or
// the index can be exported again with as many documents, words and postings.

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tools/build_index/index_manifest.h"
#include "tools/ciff/ciff_export.h"
#include "tools/ciff/ciff_import.h"

namespace {

namespace fs = std::filesystem;

// A folder in that of the test runner, else the system's.
fs::path Folder() {
  const char* const base = std::getenv("TEST_TMPDIR");
  return fs::path(base == nullptr ? "/tmp" : base) / ("ciff_import." + std::to_string(getpid()));
}

void ExportAgain(const fs::path& folder, const search::tools::CiffImportReport& report) {
  search::tools::CiffExportOptions options;
  options.folder = (folder / "index").string();
  options.output = (folder / "again.ciff").string();
  const auto counts = search::tools::ExportCiff(options);
  if (!counts.ok() || counts->documents != report.documents || counts->terms != report.terms ||
      counts->postings != report.postings) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fs::path folder = Folder();
  fs::remove_all(folder);
  fs::create_directories(folder);
  std::ofstream(folder / "given.ciff", std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  search::tools::CiffImportOptions options;
  options.input = (folder / "given.ciff").string();
  options.folder = (folder / "index").string();
  options.partition_count = 2;
  options.document_partition_count = 1;
  options.tier1_share = 0.25;
  options.document_store = "flat_file";
  const auto report = search::tools::ImportCiff(options);
  if (report.ok()) {
    ExportAgain(folder, *report);
  } else if (search::tools::ReadIndexManifest(options.folder).ok()) {
    std::abort();
  }
  fs::remove_all(folder);
  return 0;
}

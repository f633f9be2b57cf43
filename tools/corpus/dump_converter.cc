#include "tools/corpus/dump_converter.h"

#include <utility>

#include "neptune/base/strings.h"
#include "tools/corpus/trec_reader.h"
#include "tools/corpus/wiki_dump_reader.h"

namespace search::tools {
namespace {

using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

StatusOr<MakeDumpReader> ReaderOf(const std::string& format) {
  if (format == "wikipedia") return MakeDumpReader(&MakeWikiDumpReader);
  if (format == "trec") return MakeDumpReader(&MakeTrecReader);
  return neptune::InvalidArgument("dump format '", format, "' is unknown; known: wikipedia, trec");
}

// Job name: two runs with the same name produce the same file.
std::string NameOfJob(const DumpJob& job, const ConvertOptions& options) {
  std::string name =
      StrCat("neptune-corpus 1 ", job.format, "\n", job.dump.url_prefix, "\n", job.dump.site, "\n",
             job.dump.all_namespaces, " ", job.part_pages, " ", options.text_size_min, "\n");
  for (const std::string& file : job.files) neptune::StrAppend(&name, MarkOfInput(file));
  return name;
}

// One run over all files.
class Conversion {
 public:
  Conversion(const DumpJob& job, const ConvertOptions& options, MakeDumpReader make)
      : job_(job),
        options_(options),
        make_(std::move(make)),
        writer_(options, nullptr),
        progress_({.label = "converting",
                   .unit = "KiB",
                   .total = TotalSize() >> 10,
                   .out = options.progress_out,
                   .clock = options.clock,
                   .note = [this] { return StrCat(WithThousands(passed_), " documents"); }}) {}

  StatusOr<ConvertCounts> Run() {
    NEPTUNE_ASSIGN_OR_RETURN(output_,
                             PartedOutput::Open(job_.out, NameOfJob(job_, options_), &writer_));
    done_ = writer_.counts().pages;
    if (done_ > 0 && options_.report) {
      options_.report(
          StrCat("continuing after ", WithThousands(done_), " documents of an earlier run"));
    }
    for (const std::string& file : job_.files) {
      if (Status status = ConvertFile(file); !status.ok()) return neptune::Annotate(status, file);
    }
    if (passed_ < done_) return neptune::DataLoss("the input is shorter than in the earlier run");
    progress_.Finish();
    if (writer_.counts().written == 0) {
      return neptune::InvalidArgument("the input has no page with enough text; ",
                                      Summary(writer_.counts()));
    }
    NEPTUNE_RETURN_IF_ERROR(output_->Commit());
    return writer_.counts();
  }

 private:
  uint64_t TotalSize() const {
    uint64_t total = 0;
    for (const std::string& file : job_.files) total += SizeOfInput(file);
    return total;
  }

  Status ConvertFile(const std::string& file) {
    NEPTUNE_ASSIGN_OR_RETURN(const auto source, OpenByteSource(file));
    const auto reader = make_(source.get(), job_.dump);
    uint64_t shown_kib = 0;
    while (true) {
      ConvertedPage page;
      const bool is_wanted = passed_ >= done_;
      NEPTUNE_ASSIGN_OR_RETURN(const bool more, reader->Next(is_wanted, &page));
      const uint64_t read_kib = source->file_position() >> 10;
      progress_.Add(read_kib - shown_kib);
      shown_kib = read_kib;
      if (!more) return neptune::OkStatus();
      ++passed_;
      if (!is_wanted) continue;
      NEPTUNE_RETURN_IF_ERROR(writer_.Take(std::move(page)));
      if (passed_ % job_.part_pages == 0) NEPTUNE_RETURN_IF_ERROR(output_->NextPart());
    }
  }

  const DumpJob& job_;
  const ConvertOptions& options_;
  const MakeDumpReader make_;
  DocumentWriter writer_;
  uint64_t done_ = 0;    // pages of earlier runs
  uint64_t passed_ = 0;  // pages of this run
  std::unique_ptr<PartedOutput> output_;
  Progress progress_;
};

}  // namespace

StatusOr<ConvertCounts> ConvertDumps(const DumpJob& job, const ConvertOptions& options) {
  NEPTUNE_ASSIGN_OR_RETURN(MakeDumpReader make, ReaderOf(job.format));
  return Conversion(job, options, std::move(make)).Run();
}

}  // namespace search::tools

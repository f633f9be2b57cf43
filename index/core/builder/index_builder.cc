#include "index/core/builder/index_builder.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <queue>
#include <vector>

#include "index/core/builder/document_inverter.h"
#include "index/core/builder/finish_segment.h"
#include "index/core/builder/occurrence_code.h"
#include "index/core/builder/parallel_inverter.h"
#include "index/core/builder/segment_reorderer.h"
#include "index/core/builder/term_run.h"
#include "index/core/builder/term_table.h"
#include "index/core/segment/segment_reader.h"
#include "index/core/segment/segment_writer.h"

namespace search::index {
namespace {

constexpr size_t kMemorySizeMin = size_t{1} << 20;
constexpr int kThreadsMax = 256;

// Yields the runs' terms in ascending order; runs with the same term in the order of the runs.
class RunMerger {
 public:
  explicit RunMerger(std::vector<std::unique_ptr<TermRun>> runs) : runs_(std::move(runs)) {}

  neptune::Status Start() {
    for (size_t i = 0; i < runs_.size(); ++i) NEPTUNE_RETURN_IF_ERROR(Advance(i));
    return neptune::OkStatus();
  }

  bool done() const { return queue_.empty(); }
  std::string_view key() const { return runs_[queue_.top()]->key(); }

  // Writes the next term of all runs that hold it.
  neptune::Status WriteTerm(SegmentWriter* writer) {
    const std::string key(this->key());
    writer->BeginTerm(key);
    while (!done() && this->key() == key) {
      const size_t run = queue_.top();
      queue_.pop();
      NEPTUNE_RETURN_IF_ERROR(CopyPostings(run, writer));
      NEPTUNE_RETURN_IF_ERROR(Advance(run));
    }
    writer->EndTerm();
    return neptune::OkStatus();
  }

 private:
  struct Later {
    const std::vector<std::unique_ptr<TermRun>>* runs;
    bool operator()(size_t a, size_t b) const {
      const int order = (*runs)[a]->key().compare((*runs)[b]->key());
      return order != 0 ? order > 0 : a > b;
    }
  };

  neptune::Status Advance(size_t run) {
    NEPTUNE_ASSIGN_OR_RETURN(const bool found, runs_[run]->Next());
    if (found) queue_.push(run);
    return neptune::OkStatus();
  }

  neptune::Status CopyPostings(size_t run, SegmentWriter* writer) {
    NEPTUNE_RETURN_IF_ERROR(runs_[run]->ReadOccurrences(&occurrences_));
    OccurrenceReader reader(occurrences_);
    while (reader.Next(&posting_)) {
      writer->AddPosting(posting_.ordinal, posting_.frequencies, posting_.position_gaps);
    }
    return reader.damaged() ? neptune::DataLoss("occurrences of a run are damaged")
                            : neptune::OkStatus();
  }

  std::vector<std::unique_ptr<TermRun>> runs_;
  std::priority_queue<size_t, std::vector<size_t>, Later> queue_{Later{&runs_}};
  std::string occurrences_;
  RawPosting posting_;
};

}  // namespace

class IndexBuilder::Rep {
 public:
  explicit Rep(IndexBuilderOptions options)
      : options_(std::move(options)), inverter_(options_.words) {}

  ~Rep() {
    for (const std::string& path : run_paths_) ::unlink(path.c_str());
  }

  neptune::Status Create() {
    if (options_.thread_count < 1 || options_.thread_count > kThreadsMax) {
      return neptune::InvalidArgument("index builder: thread_count ", options_.thread_count,
                                      " is not between 1 and ", kThreadsMax);
    }
    // One share per thread for its batch and table, and one for the batch being filled.
    const auto shares = static_cast<size_t>(options_.thread_count + 1);
    const size_t memory_min =
        options_.thread_count == 1 ? kMemorySizeMin : 3 * shares * kMemorySizeMin;
    if (options_.memory_size_max < memory_min || options_.memory_size_max > kArenaSizeMax) {
      return neptune::InvalidArgument("index builder: memory_size_max ", options_.memory_size_max,
                                      " is not between ", memory_min, " and 3 GiB");
    }
    std::error_code error;
    std::filesystem::create_directories(options_.directory, error);
    if (error) {
      return neptune::Unavailable("cannot create folder ", options_.directory, ": ",
                                  error.message());
    }
    NEPTUNE_ASSIGN_OR_RETURN(writer_,
                             SegmentWriter::Create(options_.directory, options_.durability));
    if (options_.thread_count > 1) {
      parallel_ = std::make_unique<ParallelInverter>(
          ParallelInverterOptions{.directory = options_.directory,
                                  .words = options_.words,
                                  .thread_count = options_.thread_count,
                                  .memory_size_max = options_.memory_size_max});
    }
    return neptune::OkStatus();
  }

  neptune::Status Add(const IndexedDocument& document) {
    if (!status_.ok()) return status_;
    return status_ = AddChecked(document);
  }

  neptune::StatusOr<SegmentSummary> Finish() {
    NEPTUNE_RETURN_IF_ERROR(status_);
    status_ = neptune::FailedPrecondition("index builder: already finished");
    return Merge();
  }

 private:
  // The properties of a document known before its words are counted.
  struct Document {
    uint64_t doc_id = 0;
    float static_rank = 0;
  };

  neptune::Status AddChecked(const IndexedDocument& document);
  neptune::Status Spill();
  neptune::Status FinishInversion();
  neptune::StatusOr<SegmentSummary> Merge();
  neptune::StatusOr<std::vector<std::unique_ptr<TermRun>>> OpenRuns();

  const IndexBuilderOptions options_;
  DocumentInverter inverter_;
  std::unique_ptr<ParallelInverter> parallel_;  // instead, with several threads
  std::vector<Document> documents_;             // documents passed to parallel_
  uint32_t document_count_ = 0;
  std::unique_ptr<SegmentWriter> writer_;
  std::vector<std::string> run_paths_;
  uint64_t last_doc_id_ = 0;
  neptune::Status status_;
};

neptune::Status IndexBuilder::Rep::AddChecked(const IndexedDocument& document) {
  const uint32_t ordinal = document_count_;
  if (ordinal > 0 && document.doc_id <= last_doc_id_) {
    return neptune::InvalidArgument("index builder: document ", document.doc_id, " after ",
                                    last_doc_id_);
  }
  if (!(document.static_rank >= 0 && document.static_rank <= 1)) {
    return neptune::InvalidArgument("index builder: document ", document.doc_id,
                                    " has static rank ", document.static_rank);
  }
  if (ordinal == kSegmentDocumentsMax) {
    return neptune::ResourceExhausted("index builder: more than ", kSegmentDocumentsMax,
                                      " documents");
  }
  last_doc_id_ = document.doc_id;
  ++document_count_;
  if (parallel_ != nullptr) {
    documents_.push_back({document.doc_id, document.static_rank});
    return parallel_->Add(document);
  }
  writer_->AddDocument(document.doc_id, document.static_rank, inverter_.Add(document, ordinal));
  return inverter_.table().memory_size() >= options_.memory_size_max ? Spill()
                                                                     : neptune::OkStatus();
}

neptune::Status IndexBuilder::Rep::Spill() {
  if (run_paths_.size() == kRunsMax) {
    return neptune::ResourceExhausted("index builder: more than ", kRunsMax,
                                      " runs; raise memory_size_max");
  }
  run_paths_.push_back(neptune::StrCat(options_.directory, "/run.", run_paths_.size(), ".part"));
  NEPTUNE_RETURN_IF_ERROR(WriteRun(inverter_.table(), run_paths_.back()));
  inverter_.Clear();
  return neptune::OkStatus();
}

neptune::Status IndexBuilder::Rep::FinishInversion() {
  if (parallel_ == nullptr) return neptune::OkStatus();
  NEPTUNE_RETURN_IF_ERROR(parallel_->Finish());
  for (size_t i = 0; i < documents_.size(); ++i) {
    writer_->AddDocument(documents_[i].doc_id, documents_[i].static_rank, parallel_->lengths()[i]);
  }
  documents_ = {};
  return neptune::OkStatus();
}

neptune::StatusOr<std::vector<std::unique_ptr<TermRun>>> IndexBuilder::Rep::OpenRuns() {
  std::vector<std::unique_ptr<TermRun>> runs;
  for (const std::string& path : parallel_ == nullptr ? run_paths_ : parallel_->run_paths()) {
    NEPTUNE_ASSIGN_OR_RETURN(auto run, OpenRun(path));
    runs.push_back(std::move(run));
  }
  if (parallel_ == nullptr) runs.push_back(ReadTable(inverter_.table()));
  return runs;
}

neptune::StatusOr<SegmentSummary> IndexBuilder::Rep::Merge() {
  NEPTUNE_RETURN_IF_ERROR(FinishInversion());
  NEPTUNE_ASSIGN_OR_RETURN(auto runs, OpenRuns());
  const size_t run_count = runs.size() - (parallel_ == nullptr ? 1 : 0);
  RunMerger merger(std::move(runs));
  NEPTUNE_RETURN_IF_ERROR(merger.Start());
  while (!merger.done()) NEPTUNE_RETURN_IF_ERROR(merger.WriteTerm(writer_.get()));
  NEPTUNE_ASSIGN_OR_RETURN(SegmentSummary summary, FinishSegment(*writer_, options_.directory));
  summary.run_count = static_cast<uint32_t>(run_count);
  if (options_.reorder) {
    inverter_.Clear();
    parallel_.reset();
    NEPTUNE_ASSIGN_OR_RETURN(
        const SegmentSummary reordered,
        ReorderSegment(options_.directory, {.order = {.thread_count = options_.thread_count},
                                            .memory_size_max = options_.memory_size_max}));
    summary.size = reordered.size;
  }
  writer_.reset();
  return summary;
}

neptune::StatusOr<std::unique_ptr<IndexBuilder>> IndexBuilder::Create(IndexBuilderOptions options) {
  auto rep = std::make_unique<Rep>(std::move(options));
  NEPTUNE_RETURN_IF_ERROR(rep->Create());
  return std::unique_ptr<IndexBuilder>(new IndexBuilder(std::move(rep)));
}

IndexBuilder::IndexBuilder(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
IndexBuilder::~IndexBuilder() = default;

neptune::Status IndexBuilder::Add(const IndexedDocument& document) { return rep_->Add(document); }
neptune::StatusOr<SegmentSummary> IndexBuilder::Finish() { return rep_->Finish(); }

}  // namespace search::index

#include "index/core/builder/parallel_inverter.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "index/core/builder/document_inverter.h"
#include "index/core/builder/term_run.h"

namespace search::index {
namespace {

// A table is about as large as the texts in it; the rest is left to the allocator's rounding.
constexpr size_t kPartsOfABatch = 3;

}  // namespace

// Copies of documents, then the runs they became.
class ParallelInverter::Batch {
 public:
  Batch(size_t number, uint32_t first_ordinal) : number_(number), first_ordinal_(first_ordinal) {}
  ~Batch() {
    for (const std::string& path : run_paths_) ::unlink(path.c_str());
  }

  void Add(const IndexedDocument& document) {
    documents_.push_back({Copy(document.title), Copy(document.body), Copy(document.extra_text),
                          Copy(document.site), Copy(document.url), Copy(document.language),
                          Copy(document.date)});
  }
  bool empty() const { return documents_.empty(); }
  size_t size() const { return text_.size() + documents_.size() * sizeof(Document); }

  // Runs on a thread of its own; frees the texts.
  void Invert(const ParallelInverterOptions& options, size_t table_size_max) {
    DocumentInverter inverter(options.words);
    for (size_t i = 0; i < documents_.size() && status_.ok(); ++i) {
      lengths_.push_back(
          inverter.Add(ViewOf(documents_[i]), first_ordinal_ + static_cast<uint32_t>(i)));
      if (inverter.table().memory_size() >= table_size_max) Spill(options, &inverter);
    }
    if (status_.ok() && !inverter.table().empty()) Spill(options, &inverter);
    documents_ = {};
    text_ = {};
  }

  const neptune::Status& status() const { return status_; }
  const std::vector<Lengths>& lengths() const { return lengths_; }
  std::vector<std::string> DrainRunPaths() { return std::exchange(run_paths_, {}); }

 private:
  struct Part {
    size_t begin = 0;
    size_t size = 0;
  };
  struct Document {
    Part title;
    Part body;
    Part extra_text;
    Part site;
    Part url;
    Part language;
    Part date;
  };

  Part Copy(std::string_view text) {
    const Part part = {text_.size(), text.size()};
    text_.append(text);
    return part;
  }

  IndexedDocument ViewOf(const Document& document) const {
    const auto view = [this](Part part) {
      return std::string_view(text_).substr(part.begin, part.size);
    };
    return {.title = view(document.title),
            .body = view(document.body),
            .extra_text = view(document.extra_text),
            .site = view(document.site),
            .url = view(document.url),
            .language = view(document.language),
            .date = view(document.date)};
  }

  void Spill(const ParallelInverterOptions& options, DocumentInverter* inverter) {
    run_paths_.push_back(
        neptune::StrCat(options.directory, "/run.", number_, ".", run_paths_.size(), ".part"));
    status_ = WriteRun(inverter->table(), run_paths_.back());
    inverter->Clear();
  }

  const size_t number_;
  const uint32_t first_ordinal_;
  std::string text_;
  std::vector<Document> documents_;
  std::vector<Lengths> lengths_;
  std::vector<std::string> run_paths_;
  neptune::Status status_;
};

ParallelInverter::ParallelInverter(ParallelInverterOptions options)
    : options_(std::move(options)),
      batch_size_max_(options_.memory_size_max /
                      (kPartsOfABatch * static_cast<size_t>(options_.thread_count + 1))),
      table_size_max_(batch_size_max_) {}

ParallelInverter::~ParallelInverter() {
  for (auto& [batch, thread] : working_) thread.join();
  for (const std::string& path : run_paths_) ::unlink(path.c_str());
}

neptune::Status ParallelInverter::Add(const IndexedDocument& document) {
  NEPTUNE_RETURN_IF_ERROR(status_);
  if (filling_ == nullptr) filling_ = std::make_unique<Batch>(batch_count_++, next_ordinal_);
  filling_->Add(document);
  ++next_ordinal_;
  return filling_->size() >= batch_size_max_ ? StartBatch() : neptune::OkStatus();
}

neptune::Status ParallelInverter::StartBatch() {
  if (working_.size() >= static_cast<size_t>(options_.thread_count)) {
    NEPTUNE_RETURN_IF_ERROR(JoinOldest());
  }
  Batch* batch = filling_.get();
  working_.emplace_back(std::move(filling_),
                        std::thread([this, batch] { batch->Invert(options_, table_size_max_); }));
  return neptune::OkStatus();
}

neptune::Status ParallelInverter::JoinOldest() {
  auto [batch, thread] = std::move(working_.front());
  working_.pop_front();
  thread.join();
  status_ = batch->status();
  NEPTUNE_RETURN_IF_ERROR(status_);
  lengths_.insert(lengths_.end(), batch->lengths().begin(), batch->lengths().end());
  for (std::string& path : batch->DrainRunPaths()) run_paths_.push_back(std::move(path));
  if (run_paths_.size() > kRunsMax) {
    status_ = neptune::ResourceExhausted("index builder: more than ", kRunsMax,
                                         " runs; raise memory_size_max");
  }
  return status_;
}

neptune::Status ParallelInverter::Finish() {
  NEPTUNE_RETURN_IF_ERROR(status_);
  if (filling_ != nullptr) NEPTUNE_RETURN_IF_ERROR(StartBatch());
  while (!working_.empty()) NEPTUNE_RETURN_IF_ERROR(JoinOldest());
  return neptune::OkStatus();
}

}  // namespace search::index

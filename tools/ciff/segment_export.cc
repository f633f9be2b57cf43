#include <algorithm>
#include <cmath>
#include <queue>
#include <utility>

#include "index/core/segment/length_code.h"
#include "index/core/segment/posting_cursor.h"
#include "index/core/segment/term_dictionary.h"
#include "tools/ciff/ciff_export.h"
#include "tools/ciff/ciff_writer.h"

namespace search::tools {
namespace {

using index::Field;
using index::PostingCursor;
using index::Segment;
using index::TermCursor;
using index::TermEntry;
using neptune::OkStatus;
using neptune::Status;
using neptune::StatusOr;

constexpr uint64_t kInt32Max = INT32_MAX;
constexpr size_t kNamesBatch = 100;
constexpr uint64_t kProgressStep = 1000;

using Segments = std::vector<std::unique_ptr<Segment>>;

// Location of a term: segment, and position in it.
struct TermPlace {
  size_t segment = 0;
  TermEntry entry;
};

// Distinct words of all segments in ascending order; skips site names.
class TermMerger {
 public:
  explicit TermMerger(const Segments& segments) {
    for (const auto& segment : segments) cursors_.emplace_back(segment->terms());
    for (size_t i = 0; i < cursors_.size(); ++i) Advance(i);
  }

  // Returns false at the end and on damage; see status.
  bool Next() {
    places_.clear();
    if (queue_.empty() || !status_.ok()) return false;
    key_ = cursors_[queue_.top()].key();
    while (!queue_.empty() && cursors_[queue_.top()].key() == key_) {
      const size_t i = queue_.top();
      queue_.pop();
      places_.push_back({i, cursors_[i].entry()});
      Advance(i);
    }
    return status_.ok();
  }

  const std::string& key() const { return key_; }
  const std::vector<TermPlace>& places() const { return places_; }
  const Status& status() const { return status_; }

 private:
  struct Later {
    const std::vector<TermCursor>* cursors;
    bool operator()(size_t a, size_t b) const {
      const int order = (*cursors)[a].key().compare((*cursors)[b].key());
      return order != 0 ? order > 0 : a > b;
    }
  };

  void Advance(size_t i) {
    do {
      if (!cursors_[i].Next()) {
        if (status_.ok()) status_ = cursors_[i].status();
        return;
      }
    } while (!index::IsWordKey(cursors_[i].key()));
    queue_.push(i);
  }

  std::vector<TermCursor> cursors_;
  std::priority_queue<size_t, std::vector<size_t>, Later> queue_{Later{&cursors_}};
  std::string key_;
  std::vector<TermPlace> places_;
  Status status_;
};

// Numbers all documents from 0 in the order of their doc_ids.
class DenseNumbers {
 public:
  static StatusOr<DenseNumbers> Of(const Segments& segments) {
    DenseNumbers numbers;
    for (const auto& segment : segments) {
      const auto ids = segment->doc_ids();
      numbers.doc_ids_.insert(numbers.doc_ids_.end(), ids.begin(), ids.end());
    }
    auto& all = numbers.doc_ids_;
    if (all.size() > kInt32Max) return neptune::ResourceExhausted("export: too many documents");
    std::sort(all.begin(), all.end());
    if (std::adjacent_find(all.begin(), all.end()) != all.end()) {
      return neptune::DataLoss("export: a document is in two segments");
    }
    for (const auto& segment : segments) numbers.Map(*segment);
    return numbers;
  }

  std::span<const uint64_t> doc_ids() const { return doc_ids_; }
  uint32_t NumberOf(size_t segment, uint32_t ordinal) const { return numbers_[segment][ordinal]; }

 private:
  void Map(const Segment& segment) {
    auto& numbers = numbers_.emplace_back();
    numbers.reserve(segment.document_count());
    for (const uint64_t doc_id : segment.doc_ids()) {
      const auto at = std::lower_bound(doc_ids_.begin(), doc_ids_.end(), doc_id);
      numbers.push_back(static_cast<uint32_t>(at - doc_ids_.begin()));
    }
  }

  std::vector<uint64_t> doc_ids_;
  std::vector<std::vector<uint32_t>> numbers_;  // by segment and ordinal
};

class SegmentExport {
 public:
  SegmentExport(const Segments& segments, DenseNumbers numbers, FileSink* sink, Progress* progress)
      : segments_(segments),
        numbers_(std::move(numbers)),
        writer_(sink),
        progress_(progress),
        lengths_(numbers_.doc_ids().size()) {}

  Status Run(const DocumentNames& names, const std::string& description) {
    NEPTUNE_RETURN_IF_ERROR(WriteHeader(description));
    TermMerger terms(segments_);
    while (terms.Next()) {
      NEPTUNE_RETURN_IF_ERROR(WriteList(terms.key(), terms.places()));
      if (progress_ != nullptr && ++lists_written_ % kProgressStep == 0) {
        progress_->Add(kProgressStep);
      }
    }
    NEPTUNE_RETURN_IF_ERROR(terms.status());
    SetInexactLengths();
    return WriteDocuments(names);
  }

  const CiffCounts& counts() const { return counts_; }

 private:
  Status WriteHeader(const std::string& description) {
    counts_.documents = numbers_.doc_ids().size();
    for (const auto& segment : segments_) {
      for (const uint64_t sum : segment->totals().length_sums) counts_.tokens += sum;
    }
    TermMerger terms(segments_);
    while (terms.Next()) ++counts_.terms;
    NEPTUNE_RETURN_IF_ERROR(terms.status());
    if (counts_.terms > kInt32Max) return neptune::ResourceExhausted("export: too many words");
    ciff::Header header;
    header.set_version(1);
    header.set_num_postings_lists(static_cast<int32_t>(counts_.terms));
    header.set_total_postings_lists(header.num_postings_lists());
    header.set_num_docs(static_cast<int32_t>(counts_.documents));
    header.set_total_docs(header.num_docs());
    header.set_total_terms_in_collection(static_cast<int64_t>(counts_.tokens));
    if (counts_.documents > 0) {
      header.set_average_doclength(static_cast<double>(counts_.tokens) /
                                   static_cast<double>(counts_.documents));
    }
    header.set_description(description);
    return writer_.WriteHeader(header);
  }

  // The postings of all segments in the order of the documents' numbers.
  Status WriteList(const std::string& key, const std::vector<TermPlace>& places) {
    std::vector<PostingCursor> cursors;
    cursors.reserve(places.size());
    using Head = std::pair<uint32_t, size_t>;  // number, index of the cursor
    std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
    const auto advance = [&](size_t i) {
      const uint32_t ordinal = cursors[i].Next();
      if (ordinal != index::kNoDocument) {
        heads.emplace(numbers_.NumberOf(places[i].segment, ordinal), i);
      }
      return cursors[i].damaged() ? Damaged(key, places[i]) : OkStatus();
    };
    for (const TermPlace& place : places) {
      const Segment& segment = *segments_[place.segment];
      cursors.emplace_back(segment.postings(), place.entry, segment.document_count());
      NEPTUNE_RETURN_IF_ERROR(advance(cursors.size() - 1));
    }
    found_.clear();
    while (!heads.empty()) {
      const auto [number, i] = heads.top();
      heads.pop();
      const uint64_t tf = FrequencyOf(&cursors[i]);
      if (tf == 0 || tf > kInt32Max) return Damaged(key, places[i]);
      found_.emplace_back(number, static_cast<uint32_t>(tf));
      lengths_[number] =
          static_cast<uint32_t>(std::min<uint64_t>(lengths_[number] + tf, kInt32Max));
      NEPTUNE_RETURN_IF_ERROR(advance(i));
    }
    // Documents of a reordered segment come in another order.
    if (!std::is_sorted(found_.begin(), found_.end())) std::sort(found_.begin(), found_.end());
    postings_.Clear();
    for (const auto& [number, tf] : found_) postings_.Add({number, tf});
    counts_.postings += postings_.df();
    return writer_.WriteList(key, postings_);
  }

  Status Damaged(const std::string& key, const TermPlace& place) const {
    return neptune::DataLoss(segments_[place.segment]->name(), ": postings of '", key,
                             "' are damaged");
  }

  static uint64_t FrequencyOf(PostingCursor* cursor) {
    return uint64_t{cursor->frequency(Field::kTitle)} + cursor->frequency(Field::kBody) +
           cursor->frequency(Field::kExtra);
  }

  // A document's length is its number of indexed words, unless the segment was itself imported from
  // a file with explicit lengths (or with skipped words); then the stored length counts.
  void SetInexactLengths() {
    for (size_t s = 0; s < segments_.size(); ++s) {
      if (segments_[s]->has_positions()) continue;
      const auto codes = segments_[s]->length_codes();
      for (uint32_t ordinal = 0; ordinal < codes.size(); ++ordinal) {
        uint32_t& length = lengths_[numbers_.NumberOf(s, ordinal)];
        const auto code = static_cast<uint8_t>(codes[ordinal] >> 8);  // of the body
        if (index::EncodeLength(length) != code) {
          length = static_cast<uint32_t>(std::lround(index::DecodeLength(code)));
        }
      }
    }
  }

  Status WriteDocuments(const DocumentNames& names) {
    const auto ids = numbers_.doc_ids();
    for (size_t begin = 0; begin < ids.size(); begin += kNamesBatch) {
      const auto batch = ids.subspan(begin, std::min(kNamesBatch, ids.size() - begin));
      NEPTUNE_ASSIGN_OR_RETURN(auto batch_names, names(batch));
      for (size_t i = 0; i < batch.size(); ++i) {
        ciff::DocRecord record;
        record.set_docid(static_cast<int32_t>(begin + i));
        record.set_collection_docid(std::move(batch_names.at(i)));
        record.set_doclength(static_cast<int32_t>(lengths_[begin + i]));
        NEPTUNE_RETURN_IF_ERROR(writer_.WriteDocument(record));
      }
    }
    return OkStatus();
  }

  const Segments& segments_;
  const DenseNumbers numbers_;
  CiffWriter writer_;
  Progress* const progress_;
  std::vector<uint32_t> lengths_;                     // by number
  std::vector<std::pair<uint32_t, uint32_t>> found_;  // number, frequency: of the current list
  CiffPostings postings_;
  CiffCounts counts_;
  uint64_t lists_written_ = 0;
};

}  // namespace

StatusOr<CiffCounts> ExportSegments(const Segments& segments, const DocumentNames& names,
                                    const std::string& description, FileSink* sink,
                                    Progress* progress) {
  NEPTUNE_ASSIGN_OR_RETURN(DenseNumbers numbers, DenseNumbers::Of(segments));
  SegmentExport work(segments, std::move(numbers), sink, progress);
  NEPTUNE_RETURN_IF_ERROR(work.Run(names, description));
  return work.counts();
}

}  // namespace search::tools

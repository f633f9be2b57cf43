#include "index/core/builder/segment_rewriter.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <queue>
#include <span>
#include <string_view>
#include <utility>

#include "index/core/builder/finish_segment.h"
#include "index/core/segment/length_code.h"
#include "index/core/segment/posting_cursor.h"
#include "index/core/segment/segment_writer.h"

namespace search::index {
namespace {

using Frequencies = std::array<uint32_t, kFieldCount>;

bool Ascends(const std::vector<uint32_t>& new_ordinals) {
  uint32_t next = 0;
  for (const uint32_t ordinal : new_ordinals) {
    if (ordinal == kLeftOut) continue;
    if (ordinal < next) return false;
    next = ordinal + 1;
  }
  return true;
}

// The postings of one term in one input, without the documents that are left out.
class PostingStream {
 public:
  PostingStream(const RewriteInput& input, const TermEntry& entry)
      : new_ordinals_(input.new_ordinals),
        cursor_(input.segment->postings(), entry, input.segment->document_count()) {
    Next();
  }

  bool done() const { return ordinal_ == kLeftOut; }
  uint32_t ordinal() const { return ordinal_; }  // the new ordinal
  PostingCursor& cursor() { return cursor_; }
  void Next() {
    ordinal_ = kLeftOut;
    while (ordinal_ == kLeftOut && cursor_.Next() != kNoDocument) {
      ordinal_ = new_ordinals_[cursor_.ordinal()];
    }
  }

 private:
  const std::vector<uint32_t>& new_ordinals_;
  PostingCursor cursor_;
  uint32_t ordinal_ = kLeftOut;
};

// A buffered posting with its positions.
struct HeldPosting {
  uint32_t ordinal = 0;
  Frequencies frequencies = {};
  size_t gaps_begin = 0;
  size_t gaps_end = 0;
};

}  // namespace

class SegmentRewrite::Rep {
 public:
  Rep(std::vector<RewriteInput> inputs, uint32_t document_count, std::string directory,
      std::unique_ptr<SegmentWriter> writer)
      : inputs_(std::move(inputs)),
        document_count_(document_count),
        directory_(std::move(directory)),
        writer_(std::move(writer)),
        queue_(IsLater{&cursors_}) {
    for (const RewriteInput& input : inputs_) ascend_ = ascend_ && Ascends(input.new_ordinals);
  }

  neptune::Status Begin();
  neptune::StatusOr<bool> Step(uint64_t posting_count_max);
  neptune::StatusOr<SegmentSummary> Finish();

 private:
  // Orders inputs by their cursors' current terms.
  struct IsLater {
    const std::vector<TermCursor>* cursors;
    bool operator()(size_t a, size_t b) const {
      const int order = (*cursors)[a].key().compare((*cursors)[b].key());
      return order != 0 ? order > 0 : a > b;
    }
  };

  neptune::Status Advance(size_t input);
  neptune::Status WriteTerm(const std::string& key, std::span<PostingStream> streams);
  void WriteInOrder(std::span<PostingStream> streams);
  void WriteSorted(std::span<PostingStream> streams);
  void WriteDocuments();

  // Appends the gaps of the current posting's positions to *gaps.
  void AppendPositionGaps(PostingCursor* cursor, const Frequencies& frequencies,
                          std::vector<uint32_t>* gaps);
  void AddPosting(uint32_t ordinal, const Frequencies& frequencies,
                  std::span<const uint32_t> gaps) {
    for (size_t field = 0; field < kFieldCount; ++field) length_sums_[field] += frequencies[field];
    writer_->AddPosting(ordinal, frequencies, gaps);
  }

  static Frequencies FrequenciesOf(PostingCursor* cursor) {
    return {cursor->frequency(Field::kTitle), cursor->frequency(Field::kBody),
            cursor->frequency(Field::kExtra)};
  }

  const std::vector<RewriteInput> inputs_;
  const uint32_t document_count_;
  const std::string directory_;
  const std::unique_ptr<SegmentWriter> writer_;
  bool ascend_ = true;
  bool has_positions_ = true;
  std::vector<TermCursor> cursors_;  // by input
  std::priority_queue<size_t, std::vector<size_t>, IsLater> queue_;
  // Lengths are the sums of frequencies, because each word counts in exactly one frequency.
  std::array<uint64_t, kFieldCount> length_sums_ = {};
  std::vector<uint32_t> positions_;
  std::vector<uint32_t> gaps_;
  std::vector<HeldPosting> held_;
};

neptune::Status SegmentRewrite::Rep::Begin() {
  bool some_have_positions = false;
  bool some_lack_positions = false;
  for (const RewriteInput& input : inputs_) {
    if (input.segment->document_count() == 0) continue;
    (input.segment->has_positions() ? some_have_positions : some_lack_positions) = true;
  }
  if (some_have_positions && some_lack_positions) {
    return neptune::InvalidArgument("rewriting segments: only some of them have positions");
  }
  has_positions_ = !some_lack_positions;
  if (!has_positions_) writer_->OmitPositions();
  cursors_.reserve(inputs_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    cursors_.emplace_back(inputs_[i].segment->terms());
    NEPTUNE_RETURN_IF_ERROR(Advance(i));
  }
  return neptune::OkStatus();
}

neptune::Status SegmentRewrite::Rep::Advance(size_t input) {
  if (cursors_[input].Next()) queue_.push(input);
  return neptune::Annotate(cursors_[input].status(), inputs_[input].segment->name());
}

neptune::StatusOr<bool> SegmentRewrite::Rep::Step(uint64_t posting_count_max) {
  std::vector<PostingStream> streams;
  for (uint64_t posting_count = 0; !queue_.empty() && posting_count < posting_count_max;) {
    const std::string key(cursors_[queue_.top()].key());
    streams.clear();
    while (!queue_.empty() && cursors_[queue_.top()].key() == key) {
      const size_t i = queue_.top();
      queue_.pop();
      streams.emplace_back(inputs_[i], cursors_[i].entry());
      posting_count += cursors_[i].entry().document_frequency;
      NEPTUNE_RETURN_IF_ERROR(Advance(i));
    }
    NEPTUNE_RETURN_IF_ERROR(WriteTerm(key, streams));
  }
  return !queue_.empty();
}

neptune::Status SegmentRewrite::Rep::WriteTerm(const std::string& key,
                                               std::span<PostingStream> streams) {
  const bool is_left = std::any_of(streams.begin(), streams.end(),
                                   [](const PostingStream& stream) { return !stream.done(); });
  if (is_left) {
    writer_->BeginTerm(key);
    if (ascend_) {
      WriteInOrder(streams);
    } else {
      WriteSorted(streams);
    }
    writer_->EndTerm();
  }
  for (PostingStream& stream : streams) {
    if (stream.cursor().damaged()) {
      return neptune::DataLoss("rewriting segments: postings of a term are damaged");
    }
  }
  return neptune::OkStatus();
}

// Each stream ascends: copies from the stream with the smallest ordinal until it passes the next.
void SegmentRewrite::Rep::WriteInOrder(std::span<PostingStream> streams) {
  const auto is_before = [](const PostingStream& a, const PostingStream& b) {
    return a.ordinal() < b.ordinal();  // exhausted streams come last
  };
  while (true) {
    auto& first = *std::min_element(streams.begin(), streams.end(), is_before);
    if (first.done()) return;
    uint32_t end = kLeftOut;
    for (const PostingStream& stream : streams) {
      if (&stream != &first) end = std::min(end, stream.ordinal());
    }
    for (; first.ordinal() < end; first.Next()) {
      const Frequencies frequencies = FrequenciesOf(&first.cursor());
      gaps_.clear();
      AppendPositionGaps(&first.cursor(), frequencies, &gaps_);
      AddPosting(first.ordinal(), frequencies, gaps_);
    }
  }
}

void SegmentRewrite::Rep::WriteSorted(std::span<PostingStream> streams) {
  held_.clear();
  gaps_.clear();
  for (PostingStream& stream : streams) {
    for (; !stream.done(); stream.Next()) {
      HeldPosting& posting = held_.emplace_back();
      posting.ordinal = stream.ordinal();
      posting.frequencies = FrequenciesOf(&stream.cursor());
      posting.gaps_begin = gaps_.size();
      AppendPositionGaps(&stream.cursor(), posting.frequencies, &gaps_);
      posting.gaps_end = gaps_.size();
    }
  }
  std::sort(held_.begin(), held_.end(),
            [](const HeldPosting& a, const HeldPosting& b) { return a.ordinal < b.ordinal; });
  for (const HeldPosting& posting : held_) {
    AddPosting(posting.ordinal, posting.frequencies,
               std::span(gaps_).subspan(posting.gaps_begin, posting.gaps_end - posting.gaps_begin));
  }
}

void SegmentRewrite::Rep::AppendPositionGaps(PostingCursor* cursor, const Frequencies& frequencies,
                                             std::vector<uint32_t>* gaps) {
  if (!has_positions_) return;
  for (size_t field = 0; field < kFieldCount; ++field) {
    if (frequencies[field] == 0) continue;
    cursor->DecodePositions(static_cast<Field>(field), &positions_);
    uint32_t last = 0;
    for (const uint32_t position : positions_) {
      gaps->push_back(position - last);
      last = position;
    }
  }
}

void SegmentRewrite::Rep::WriteDocuments() {
  struct Place {
    uint32_t input = 0;
    uint32_t ordinal = 0;
  };
  std::vector<Place> places(document_count_);  // by new ordinal
  for (uint32_t i = 0; i < inputs_.size(); ++i) {
    const auto& new_ordinals = inputs_[i].new_ordinals;
    for (uint32_t ordinal = 0; ordinal < new_ordinals.size(); ++ordinal) {
      if (new_ordinals[ordinal] != kLeftOut) places[new_ordinals[ordinal]] = {i, ordinal};
    }
  }
  std::array<uint64_t, kFieldCount> coded_sums = {};
  for (const Place place : places) {
    const Segment& segment = *inputs_[place.input].segment;
    const uint32_t codes = segment.length_codes()[place.ordinal];
    writer_->AddCodedDocument(segment.doc_ids()[place.ordinal],
                              segment.static_ranks()[place.ordinal], codes);
    // Imported postings may have lengths that differ from the sums of their frequencies.
    for (size_t field = 0; field < kFieldCount && !has_positions_; ++field) {
      coded_sums[field] +=
          static_cast<uint64_t>(DecodeLength(static_cast<uint8_t>(codes >> (8 * field))));
    }
  }
  writer_->AddLengthSums(has_positions_ ? length_sums_ : coded_sums);
}

neptune::StatusOr<SegmentSummary> SegmentRewrite::Rep::Finish() {
  WriteDocuments();
  return FinishSegment(*writer_, directory_);
}

SegmentRewrite::SegmentRewrite(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
SegmentRewrite::~SegmentRewrite() = default;

neptune::StatusOr<std::unique_ptr<SegmentRewrite>> SegmentRewrite::Begin(
    std::vector<RewriteInput> inputs, uint32_t document_count, const std::string& directory,
    Durability durability) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return neptune::Unavailable("cannot create folder ", directory, ": ", error.message());
  NEPTUNE_ASSIGN_OR_RETURN(auto writer, SegmentWriter::Create(directory, durability));
  auto rep = std::make_unique<Rep>(std::move(inputs), document_count, directory, std::move(writer));
  NEPTUNE_RETURN_IF_ERROR(rep->Begin());
  return std::unique_ptr<SegmentRewrite>(new SegmentRewrite(std::move(rep)));
}

neptune::StatusOr<bool> SegmentRewrite::Step(uint64_t posting_count_max) {
  return rep_->Step(posting_count_max);
}
neptune::StatusOr<SegmentSummary> SegmentRewrite::Finish() { return rep_->Finish(); }

neptune::StatusOr<SegmentSummary> RewriteSegments(const std::vector<RewriteInput>& inputs,
                                                  uint32_t document_count,
                                                  const std::string& directory) {
  NEPTUNE_ASSIGN_OR_RETURN(auto rewrite, SegmentRewrite::Begin(inputs, document_count, directory));
  NEPTUNE_RETURN_IF_ERROR(rewrite->Step(UINT64_MAX).status());
  return rewrite->Finish();
}

}  // namespace search::index

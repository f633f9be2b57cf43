#include "tools/ciff/ciff_reader.h"

#include <utility>

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::OkStatus;
using neptune::Status;
using neptune::StatusOr;

constexpr uint64_t kInt32Max = INT32_MAX;
// Protocol Buffers have no larger messages.
constexpr uint64_t kMessageSizeMax = INT32_MAX;
// Tags: number * 8 + wire type.
constexpr uint64_t kTermTag = 1 * 8 + 2;
constexpr uint64_t kDfTag = 2 * 8 + 0;
constexpr uint64_t kCfTag = 3 * 8 + 0;
constexpr uint64_t kPostingTag = 4 * 8 + 2;
constexpr uint64_t kDocidTag = 1 * 8 + 0;
constexpr uint64_t kTfTag = 2 * 8 + 0;

}  // namespace

StatusOr<CiffReader> CiffReader::Open(ByteSource* source) {
  CiffReader reader(source);
  NEPTUNE_RETURN_IF_ERROR(reader.ReadHeader());
  return reader;
}

Status CiffReader::TooLarge(std::string_view what, uint64_t size, uint64_t size_max) const {
  return InvalidArgument("byte ", position(), ": ", what, " of ", size, " bytes, more than ",
                         size_max);
}

// A message that is small enough to be held.
template <typename Message>
Status CiffReader::ReadRecord(Message* message) {
  uint64_t size = 0;
  if (!input_.ReadVarint(&size)) return input_.status();
  if (size > kCiffRecordSizeMax) return TooLarge("a record", size, kCiffRecordSizeMax);
  std::string bytes;
  if (!input_.ReadBytes(size, &bytes)) return input_.status();
  if (!message->ParseFromString(bytes)) input_.Fail("the previous record cannot be parsed");
  return input_.status();
}

Status CiffReader::ReadHeader() {
  NEPTUNE_RETURN_IF_ERROR(ReadRecord(&header_));
  if (header_.version() != 1) {
    return InvalidArgument("format version ", header_.version(), ", known is 1");
  }
  if (header_.num_postings_lists() < 0 || header_.num_docs() < 0) {
    input_.Fail("the header has a negative count");
  }
  return input_.status();
}

StatusOr<bool> CiffReader::NextList() {
  if (lists_read_ == header_.num_postings_lists()) return false;
  if (ReadListHead()) {
    ++lists_read_;
    return true;
  }
  NEPTUNE_RETURN_IF_ERROR(refusal_);
  return input_.status();
}

bool CiffReader::IsInList() { return input_.status().ok() && input_.position() < list_end_; }

bool CiffReader::ReadListHead() {
  uint64_t size = 0;
  if (!input_.ReadVarint(&size)) return false;
  if (size > kMessageSizeMax) return input_.Fail("a posting list of ", size, " bytes");
  list_end_ = input_.position() + size;
  term_.clear();
  at_posting_ = false;
  df_ = cf_ = postings_read_ = tf_sum_ = docid_ = 0;
  while (!at_posting_ && IsInList()) {
    uint64_t tag = 0;
    if (!input_.ReadVarint(&tag)) return false;
    at_posting_ = tag == kPostingTag;
    if (!at_posting_ && !ReadListField(tag)) return false;
  }
  return input_.status().ok();
}

bool CiffReader::ReadListField(uint64_t tag) {
  if (tag == kDfTag) return input_.ReadVarint(&df_);
  if (tag == kCfTag) return input_.ReadVarint(&cf_);
  if (tag != kTermTag) return input_.SkipField(tag);
  if (postings_read_ > 0) return input_.Fail("a term after its postings");
  uint64_t size = 0;
  if (!input_.ReadVarint(&size)) return false;
  if (size > list_end_) return input_.Fail("a term that is longer than its list");
  if (size > kCiffTermSizeMax) {
    refusal_ = TooLarge("a term", size, kCiffTermSizeMax);
    return false;
  }
  return input_.ReadBytes(size, &term_);
}

StatusOr<bool> CiffReader::NextPosting(CiffPosting* posting) {
  while (!at_posting_ && IsInList()) {
    uint64_t tag = 0;
    if (!input_.ReadVarint(&tag)) break;
    at_posting_ = tag == kPostingTag;
    if (!at_posting_ && !ReadListField(tag)) break;
  }
  if (at_posting_ && ReadPosting(posting)) {
    at_posting_ = false;
    return true;
  }
  NEPTUNE_RETURN_IF_ERROR(refusal_);
  if (input_.status().ok() && FinishList()) return false;
  return input_.status();
}

bool CiffReader::ReadPosting(CiffPosting* posting) {
  uint64_t size = 0;
  uint64_t docid = 0;
  uint64_t tf = 0;
  if (!input_.ReadVarint(&size)) return false;
  const uint64_t at = input_.position();
  if (at > list_end_ || size > list_end_ - at) return input_.Fail("a posting beyond its list");
  if (!ReadPostingFields(at + size, &docid, &tf)) return false;
  if (postings_read_ > 0 && docid == 0) return input_.Fail("the same document twice in a list");
  docid_ += docid;
  if (docid_ >= static_cast<uint64_t>(header_.num_docs())) {
    return input_.Fail("document ", docid_, " of ", header_.num_docs());
  }
  if (tf == 0) return input_.Fail("a word with frequency 0 in document ", docid_);
  ++postings_read_;
  tf_sum_ += tf;
  *posting = {static_cast<uint32_t>(docid_), static_cast<uint32_t>(tf)};
  return true;
}

bool CiffReader::ReadPostingFields(uint64_t end, uint64_t* docid, uint64_t* tf) {
  while (input_.position() < end) {
    uint64_t tag = 0;
    if (!input_.ReadVarint(&tag)) return false;
    const bool good = tag == kDocidTag ? ReadInt32(docid)
                      : tag == kTfTag  ? ReadInt32(tf)
                                       : input_.SkipField(tag);
    if (!good) return false;
  }
  return input_.position() == end || input_.Fail("a posting that is longer than its declared size");
}

bool CiffReader::ReadInt32(uint64_t* value) {
  if (!input_.ReadVarint(value)) return false;
  return *value <= kInt32Max || input_.Fail("a number that is negative or too large");
}

bool CiffReader::FinishList() {
  if (input_.position() != list_end_)
    return input_.Fail("a list that is longer than its declared size");
  if (df_ != postings_read_) {
    return input_.Fail(postings_read_, " postings of '", term_.substr(0, 40), "' instead of ", df_);
  }
  return cf_ == tf_sum_ ||
         input_.Fail(tf_sum_, " occurrences of '", term_.substr(0, 40), "' instead of ", cf_);
}

StatusOr<bool> CiffReader::NextDocument(ciff::DocRecord* document) {
  if (documents_read_ == header_.num_docs()) {
    if (!input_.AtEnd()) input_.Fail("bytes after the last document");
    NEPTUNE_RETURN_IF_ERROR(input_.status());
    return false;
  }
  NEPTUNE_RETURN_IF_ERROR(ReadRecord(document));
  if (document->docid() != documents_read_) {
    input_.Fail("document ", document->docid(), " where ", documents_read_, " should be");
  }
  if (document->doclength() < 0) input_.Fail("a document of negative length");
  NEPTUNE_RETURN_IF_ERROR(input_.status());
  ++documents_read_;
  return true;
}

}  // namespace search::tools

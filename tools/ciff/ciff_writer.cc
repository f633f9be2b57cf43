#include "tools/ciff/ciff_writer.h"

namespace search::tools {
namespace {

constexpr size_t kMessageSizeMax = INT32_MAX;

void AppendVarint(uint64_t value, std::string* out) {
  for (; value >= 128; value >>= 7) out->push_back(static_cast<char>((value & 127) | 128));
  out->push_back(static_cast<char>(value));
}

size_t VarintSize(uint64_t value) {
  size_t size = 1;
  for (; value >= 128; value >>= 7) ++size;
  return size;
}

}  // namespace

void CiffPostings::Clear() {
  bytes_.clear();
  df_ = cf_ = 0;
  last_docid_ = 0;
}

void CiffPostings::Add(CiffPosting posting) {
  const uint32_t gap = posting.docid - last_docid_;  // the number itself in the first
  bytes_.push_back(4 * 8 + 2);
  // A zero is left out, as Protocol Buffers do.
  AppendVarint((gap == 0 ? 0 : 1 + VarintSize(gap)) + 1 + VarintSize(posting.tf), &bytes_);
  if (gap != 0) {
    bytes_.push_back(1 * 8);
    AppendVarint(gap, &bytes_);
  }
  bytes_.push_back(2 * 8);
  AppendVarint(posting.tf, &bytes_);
  last_docid_ = posting.docid;
  ++df_;
  cf_ += posting.tf;
}

neptune::Status CiffWriter::WriteRecord(const google::protobuf::MessageLite& message) {
  scratch_.clear();
  AppendVarint(message.ByteSizeLong(), &scratch_);
  message.AppendToString(&scratch_);
  return sink_->Write(scratch_);
}

neptune::Status CiffWriter::WriteHeader(const ciff::Header& header) { return WriteRecord(header); }

neptune::Status CiffWriter::WriteDocument(const ciff::DocRecord& document) {
  return WriteRecord(document);
}

neptune::Status CiffWriter::WriteList(std::string_view term, const CiffPostings& postings) {
  std::string head;
  head.push_back(1 * 8 + 2);
  AppendVarint(term.size(), &head);
  head.append(term);
  head.push_back(2 * 8);
  AppendVarint(postings.df(), &head);
  head.push_back(3 * 8);
  AppendVarint(postings.cf(), &head);
  const size_t size = head.size() + postings.bytes().size();
  if (size > kMessageSizeMax) {
    return neptune::ResourceExhausted("ciff: the postings of '", term, "' exceed 2 GiB");
  }
  scratch_.clear();
  AppendVarint(size, &scratch_);
  scratch_.append(head);
  NEPTUNE_RETURN_IF_ERROR(sink_->Write(scratch_));
  return sink_->Write(postings.bytes());
}

}  // namespace search::tools

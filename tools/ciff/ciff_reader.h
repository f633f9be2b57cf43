// Reads a file in the Common Index File Format front to back: header, posting lists, documents.
//
// Source: github.com/osirrc/ciff, the format's description. Layout: README.md.
// Reads from a ByteSource, which unpacks.
// Threads: thread-compatible.
// Errors: DATA_LOSS "byte N: ..." for truncated or contradictory bytes; INVALID_ARGUMENT for a
//   file that is whole but of another version or over a limit. After an error nothing more is read.
// Limits: constant memory, whatever the file says: a posting list is never held in memory;
//   kCiffTermSizeMax, kCiffRecordSizeMax; documents are numbered below num_docs.
//
// Checked: numbers are not negative, documents ascend in each list and are below num_docs, every tf
// is at least 1, df and cf are the number and the sum of a list's postings, documents come as 0, 1,
// 2, ..., and no bytes follow the last. A changed bit that violates none of this is not detected;
// the format has no checksums.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "neptune/base/status.h"
#include "tools/ciff/ciff.pb.h"
#include "tools/ciff/wire_input.h"

namespace search::tools {

// Bytes of a term.
inline constexpr size_t kCiffTermSizeMax = size_t{64} << 10;
// Bytes of a header or document record.
inline constexpr size_t kCiffRecordSizeMax = size_t{1} << 20;

struct CiffPosting {
  uint32_t docid = 0;  // the document's number, not a distance
  uint32_t tf = 0;

  bool operator==(const CiffPosting&) const = default;
};

class CiffReader {
 public:
  // Reads the header. REQUIRES: `source` outlives the reader.
  static neptune::StatusOr<CiffReader> Open(ByteSource* source);

  const ciff::Header& header() const { return header_; }

  // Moves to the next list; false after the last. REQUIRES: the previous list was read to its end.
  neptune::StatusOr<bool> NextList();
  const std::string& term() const { return term_; }
  // The list's next posting; false at its end.
  neptune::StatusOr<bool> NextPosting(CiffPosting* posting);

  // Reads the next document; false after the last, which is also the end of the file.
  // REQUIRES: all lists are read.
  neptune::StatusOr<bool> NextDocument(ciff::DocRecord* document);

  // Offset of the next byte in the unpacked data, for messages.
  uint64_t position() const { return input_.position(); }

 private:
  explicit CiffReader(ByteSource* source) : input_(source) {}

  neptune::Status ReadHeader();
  template <typename Message>
  neptune::Status ReadRecord(Message* message);
  bool ReadListHead();
  bool ReadListField(uint64_t tag);
  bool ReadPosting(CiffPosting* posting);
  bool ReadPostingFields(uint64_t end, uint64_t* docid, uint64_t* tf);
  bool ReadInt32(uint64_t* value);
  bool FinishList();
  bool IsInList();
  neptune::Status TooLarge(std::string_view what, uint64_t size, uint64_t size_max) const;

  WireInput input_;
  ciff::Header header_;
  neptune::Status refusal_;  // of a file over a limit
  int64_t lists_read_ = 0;
  int64_t documents_read_ = 0;

  // The current list.
  std::string term_;
  uint64_t list_end_ = 0;
  bool at_posting_ = false;  // the tag of a posting has been read
  uint64_t df_ = 0;
  uint64_t cf_ = 0;
  uint64_t postings_read_ = 0;
  uint64_t tf_sum_ = 0;
  uint64_t docid_ = 0;
};

}  // namespace search::tools

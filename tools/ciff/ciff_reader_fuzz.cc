// Reads any bytes as a file in the Common Index File Format, from a source that gives them in
// pieces of uneven size: read to the end or refused, and everything that was read satisfies the
// reader's guarantees.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "tools/ciff/ciff_reader.h"

namespace {

using search::tools::CiffPosting;
using search::tools::CiffReader;

class PieceSource : public search::tools::ByteSource {
 public:
  PieceSource(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  neptune::StatusOr<size_t> Read(char* buffer, size_t size) override {
    const size_t taken = std::min({size, size_ - at_, 1 + at_ % 61});
    if (taken > 0) std::memcpy(buffer, data_ + at_, taken);
    at_ += taken;
    return taken;
  }
  uint64_t file_position() const override { return at_; }

 private:
  const uint8_t* const data_;
  const size_t size_;
  size_t at_ = 0;
};

// Whether the list could be read; if so, the reader's guarantees about it must hold.
bool ReadList(CiffReader* reader) {
  CiffPosting last;
  CiffPosting posting;
  for (bool first = true;; first = false) {
    const auto found = reader->NextPosting(&posting);
    if (!found.ok() || !*found) return found.ok();
    if (posting.tf == 0 || (!first && posting.docid <= last.docid) ||
        posting.docid >= static_cast<uint32_t>(reader->header().num_docs())) {
      std::abort();
    }
    last = posting;
  }
}

void ReadAll(CiffReader* reader) {
  while (true) {
    const auto found = reader->NextList();
    if (!found.ok()) return;
    if (!*found) break;
    if (!ReadList(reader)) return;
  }
  search::tools::ciff::DocRecord document;
  for (auto found = reader->NextDocument(&document); found.ok() && *found;) {
    if (document.doclength() < 0) std::abort();
    found = reader->NextDocument(&document);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  PieceSource source(data, size);
  auto reader = CiffReader::Open(&source);
  if (reader.ok()) ReadAll(&*reader);
  return 0;
}

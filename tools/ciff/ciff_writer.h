// Writes a file in the Common Index File Format.
//
// Source: github.com/osirrc/ciff, the format's description. Layout: README.md.
// Writes to a FileSink.
// Threads: thread-compatible.
// Errors: those of the sink; RESOURCE_EXHAUSTED for a list of more than 2 GiB, which no reader of
//   Protocol Buffers would accept.
// Limits: memory is the current list.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "neptune/base/status.h"
#include "tools/ciff/ciff.pb.h"
#include "tools/ciff/ciff_reader.h"
#include "tools/streams/file_sink.h"

namespace search::tools {

// The encoded postings of one list.
class CiffPostings {
 public:
  void Clear();
  // REQUIRES: docid greater than the last; tf at least 1; both below 2^31.
  void Add(CiffPosting posting);

  uint64_t df() const { return df_; }
  uint64_t cf() const { return cf_; }
  std::string_view bytes() const { return bytes_; }

 private:
  std::string bytes_;
  uint64_t df_ = 0;
  uint64_t cf_ = 0;
  uint32_t last_docid_ = 0;
};

// REQUIRES of all: the header first, then as many lists and documents as it says.
class CiffWriter {
 public:
  // REQUIRES: `sink` outlives the writer; its owner commits it.
  explicit CiffWriter(FileSink* sink) : sink_(sink) {}

  neptune::Status WriteHeader(const ciff::Header& header);
  neptune::Status WriteList(std::string_view term, const CiffPostings& postings);
  neptune::Status WriteDocument(const ciff::DocRecord& document);

 private:
  neptune::Status WriteRecord(const google::protobuf::MessageLite& message);

  FileSink* const sink_;
  std::string scratch_;
};

}  // namespace search::tools

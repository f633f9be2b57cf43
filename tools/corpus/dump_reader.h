// Pages of one large file, one after another: what every reader of dumps can do.
//
// Threads: thread-compatible.
// Errors: those of the byte source; DATA_LOSS a file that ends too early or is not of its format;
//   the message says near which byte of the unpacked file.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "neptune/base/status.h"
#include "tools/corpus/document_writer.h"
#include "tools/streams/byte_source.h"

namespace search::tools {

struct DumpOptions {
  // Put before what names a document (a title, a DOCNO) to make its url. Wikipedia: empty takes the
  // dump's own address.
  std::string url_prefix;
  std::string site;
  // Wikipedia: pages of namespaces but the one of articles too.
  bool all_namespaces = false;
};

class DumpReader {
 public:
  virtual ~DumpReader() = default;

  // Replaces *page by the next one; false at the end. If it is not wanted only its place is passed,
  // which costs less.
  virtual neptune::StatusOr<bool> Next(bool is_wanted, ConvertedPage* page) = 0;
};

// A reader of `source`, which outlives it.
using MakeDumpReader =
    std::function<std::unique_ptr<DumpReader>(ByteSource* source, const DumpOptions& options)>;

}  // namespace search::tools

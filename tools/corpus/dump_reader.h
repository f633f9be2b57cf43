// Interface of dump readers: the pages of one large file, in order.
//
// Threads: thread-compatible.
// Errors: those of the byte source; DATA_LOSS a file that ends too early or is not of its format;
//   the message has the approximate byte position in the decompressed file.

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
  // Prefix of a document's name (title, DOCNO) in its url. Wikipedia: empty means the dump's own
  // address.
  std::string url_prefix;
  std::string site;
  // Wikipedia: also return pages outside the article namespace.
  bool all_namespaces = false;
};

class DumpReader {
 public:
  virtual ~DumpReader() = default;

  // Replaces *page by the next page; false at the end. With `is_wanted` false the page is skipped
  // without conversion, which is cheaper.
  virtual neptune::StatusOr<bool> Next(bool is_wanted, ConvertedPage* page) = 0;
};

// Creates a reader of `source`. REQUIRES: `source` outlives it.
using MakeDumpReader =
    std::function<std::unique_ptr<DumpReader>(ByteSource* source, const DumpOptions& options)>;

}  // namespace search::tools

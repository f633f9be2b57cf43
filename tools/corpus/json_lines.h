// Reads documents from JSON Lines: our own form (format.md) and the plain `id`, `title`, `text`.
//
// Threads: thread-compatible; one parser for each thread.
// Errors: a bad line is INVALID_ARGUMENT with the reason; the caller knows its number.
// Limits: CorpusLimits; longer texts and lists are cut, longer urls refused.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "neptune/base/status.h"
#include "tools/corpus/corpus_document.h"

namespace search::tools {

struct JsonLinesOptions {
  // Prefix of `id` in the url of an object without `url`.
  // Default: "id:", so that urls of different kinds do not collide.
  std::string id_url_prefix = "id:";
  // Site of objects without a site.
  std::string default_site;
};

class JsonLineParser {
 public:
  // Bytes after a line that must be readable; their values do not matter.
  static constexpr size_t kPadding = 64;

  explicit JsonLineParser(JsonLinesOptions options = {});
  ~JsonLineParser();

  // REQUIRES: kPadding readable bytes after `line`.
  neptune::StatusOr<CorpusDocument> Parse(std::string_view line);

 private:
  class Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace search::tools

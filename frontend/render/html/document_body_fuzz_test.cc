// A cached copy is a well-formed, safe page whatever the text, its structure and the matches are.
// The input's first line is the text, the second the structure, the rest pairs of bytes: matches.

#include <glog/logging.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "frontend/render/html/pages.h"
#include "frontend/render/samples/html_check.h"

namespace {

std::string TakeLine(std::string_view* rest) {
  const size_t size = std::min(rest->find('\n'), rest->size());
  std::string line(rest->substr(0, size));
  rest->remove_prefix(std::min(size + 1, rest->size()));
  return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using search::frontend::CachedDocument;
  std::string_view rest(reinterpret_cast<const char*>(data), std::min<size_t>(size, 4096));
  CachedDocument document = {.doc_id = "1", .url = "doc:x", .title = "T", .query = "q"};
  document.text = TakeLine(&rest);
  // A tab stands for a line break.
  std::replace(document.text.begin(), document.text.end(), '\t', '\n');
  document.structure = TakeLine(&rest);
  for (; rest.size() >= 2; rest.remove_prefix(2)) {
    document.matches.push_back({static_cast<uint8_t>(rest[0]), static_cast<uint8_t>(rest[1])});
  }
  const std::string page = search::frontend::html::DocumentPage(document, {});
  const auto problems = search::frontend::HtmlProblems(page);
  CHECK(problems.empty()) << problems[0];
  return 0;
}

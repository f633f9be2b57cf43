// Any line is a document or a reasoned refusal; an accepted one is written and read back unchanged.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tools/corpus/corpus_document.h"
#include "tools/corpus/json_lines.h"

namespace {

neptune::StatusOr<search::tools::CorpusDocument> Parse(std::string line) {
  const size_t size = line.size();
  line.append(search::tools::JsonLineParser::kPadding, '\0');
  return search::tools::JsonLineParser().Parse(std::string_view(line.data(), size));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto document = Parse(std::string(reinterpret_cast<const char*>(data), size));
  if (!document.ok()) return 0;
  std::string line;
  search::tools::AppendJsonLine(*document, &line);
  line.pop_back();
  const auto again = Parse(line);
  if (!again.ok() || !(*again == *document)) abort();
  return 0;
}

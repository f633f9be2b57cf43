// Any bytes give documents within the limits, in valid UTF-8, and a status at the end; reading them in pieces of another size
// gives the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "index/html/utf8.h"
#include "tools/corpus/memory_source.h"
#include "tools/corpus/wiki_dump_reader.h"

namespace {

using search::tools::CorpusLimits;

std::string ReadAll(const std::string& bytes, size_t piece_size) {
  search::tools::MemorySource source(bytes, piece_size);
  const auto reader = search::tools::MakeWikiDumpReader(&source, {});
  std::string lines;
  while (true) {
    search::tools::ConvertedPage page;
    const auto more = reader->Next(true, &page);
    if (!more.ok() || !*more) return lines;
    if (!page.status.ok() || page.is_redirect || page.is_other) continue;
    const auto& document = page.document;
    if (document.text.size() > CorpusLimits::kTextSizeMax ||
        document.title.size() > CorpusLimits::kTitleSizeMax || document.url.empty() ||
        document.url.size() > CorpusLimits::kUrlSizeMax ||
        document.links.size() > CorpusLimits::kLinksMax) {
      abort();
    }
    if (!search::html::IsValidUtf8(document.text) || !search::html::IsValidUtf8(document.title))
      abort();
    search::tools::AppendJsonLine(document, &lines);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  if (ReadAll(bytes, 4096) != ReadAll(bytes, 7)) abort();
  return 0;
}

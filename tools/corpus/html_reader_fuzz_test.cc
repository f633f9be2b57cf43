// Any bytes are read as a page within the limits, or refused.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tools/corpus/corpus_document.h"
#include "tools/corpus/html_reader.h"
#include "tools/corpus/utf8.h"

namespace {

void Require(bool fact) {
  if (!fact) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using search::tools::CorpusLimits;
  using search::tools::IsValidUtf8;
  const auto page =
      search::tools::ReadHtml(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!page.ok()) {
    Require(page.status().code() == neptune::StatusCode::kResourceExhausted);
    return 0;
  }
  Require(page->text.size() <= CorpusLimits::kTextSizeMax && IsValidUtf8(page->text));
  Require(page->title.size() <= CorpusLimits::kTitleSizeMax && IsValidUtf8(page->title));
  Require(page->links.size() <= CorpusLimits::kLinksMax);
  for (const auto& link : page->links) {
    Require(!link.href.empty() && IsValidUtf8(link.href) && IsValidUtf8(link.text));
  }
  for (const auto& heading : page->headings) Require(IsValidUtf8(heading));
  return 0;
}

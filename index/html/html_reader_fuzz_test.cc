// Arbitrary bytes are read as a page within the limits, or refused; the structure of the page fits
// its text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "index/html/document_structure.h"
#include "index/html/html_reader.h"
#include "index/html/utf8.h"

namespace {

void Require(bool fact) {
  if (!fact) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using search::html::HtmlPageLimits;
  using search::html::IsValidUtf8;
  const auto page =
      search::html::ReadHtml(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!page.ok()) {
    Require(page.status().code() == neptune::StatusCode::kResourceExhausted);
    return 0;
  }
  Require(page->text.size() <= HtmlPageLimits::kTextSizeMax && IsValidUtf8(page->text));
  Require(page->title.size() <= HtmlPageLimits::kTitleSizeMax && IsValidUtf8(page->title));
  Require(page->links.size() <= HtmlPageLimits::kLinksMax);
  for (const auto& link : page->links) {
    Require(!link.href.empty() && IsValidUtf8(link.href) && IsValidUtf8(link.text));
  }
  for (const auto& heading : page->headings) Require(IsValidUtf8(heading));
  auto structure = page->structure;
  const auto resolve = [](const std::string& target) -> std::optional<std::string> {
    return target.size() % 3 == 0 ? std::nullopt : std::optional<std::string>("17");
  };
  search::html::ResolveTargets(resolve, &structure);
  const std::string encoded = search::html::EncodeStructure(structure);
  Require(search::html::ParseStructure(encoded, page->text).ok());
  return 0;
}

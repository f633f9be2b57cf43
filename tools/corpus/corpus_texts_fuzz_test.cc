// Any bytes as the texts of a corpus that no reader of dumps cuts first: Markdown, wikitext, a
// manifest, the output of apt. What is read keeps the limits of a page.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "index/html/html_reader.h"
#include "tools/bazel/fuzz/place.h"
#include "tools/corpus/manifest.h"
#include "tools/corpus/package_cache.h"
#include "tools/corpus/page_reader.h"
#include "tools/corpus/wikitext.h"

namespace search::tools {
namespace {

neptune::FuzzPlace read_markdown("Markdown is read");
neptune::FuzzPlace read_wikitext("wikitext is read");
neptune::FuzzPlace read_manifest("a manifest is read");
neptune::FuzzPlace read_packages("packages are read");

void Check(std::string_view text) {
  const auto page = ReadMarkdown(text);
  if (page.ok() && !page->text.empty()) {
    read_markdown.Reach();
    CHECK_LE(page->text.size(), html::HtmlPageLimits::kTextSizeMax);
    CHECK_LE(page->links.size(), html::HtmlPageLimits::kLinksMax);
  }
  const PlainWikitext plain = ReadWikitext(text, {"File", "Category"});
  if (!plain.text.empty()) read_wikitext.Reach();
  (void)DecodeEntities(text);
  if (ParseManifest(text).ok()) read_manifest.Reach();
  if (!ParsePackageUris(text).empty()) read_packages.Reach();
}

}  // namespace
}  // namespace search::tools

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  search::tools::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}

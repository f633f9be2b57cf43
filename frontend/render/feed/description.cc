#include <string>

#include "frontend/render/feed/feed_pages.h"
#include "frontend/render/feed/feed_parts.h"
#include "neptune/base/strings.h"
#include "neptune/base/utf8.h"

namespace search::frontend::feed {
namespace {

using neptune::StrCat;

// The specification allows a short name of at most 16 characters without markup.
constexpr size_t kShortNameSizeMax = 16;

void WriteUrl(MarkupWriter& xml, const Site& site, PageFormat format, std::string_view type) {
  std::string address =
      StrCat(site.base_url, "/search?q={searchTerms}&start={startIndex?}&count={count?}");
  // Browsers leave optional parameters empty, which is an error, so they get the short form.
  if (format == PageFormat::kHtml) address = StrCat(site.base_url, "/search?q={searchTerms}");
  if (format != PageFormat::kHtml) neptune::StrAppend(&address, "&format=", FormatName(format));
  xml.Empty("Url", {{"type", type}, {"indexOffset", "0"}, {"template", address}});
}

}  // namespace

std::string OpenSearchDescription(const Site& site) {
  MarkupWriter xml(MarkupWriter::Syntax::kXml);
  WriteXmlDeclaration(xml);
  {
    const Element root(xml, "OpenSearchDescription", {{"xmlns", kOpenSearchNamespace}});
    xml.TextElement("ShortName", neptune::TruncateUtf8(site.name, kShortNameSizeMax));
    xml.TextElement("LongName", neptune::TruncateUtf8(site.name, 48));
    xml.TextElement("Description", StrCat("Search documents with ", site.name));
    WriteUrl(xml, site, PageFormat::kHtml, "text/html");
    WriteUrl(xml, site, PageFormat::kRss, "application/rss+xml");
    WriteUrl(xml, site, PageFormat::kAtom, "application/atom+xml");
    WriteUrl(xml, site, PageFormat::kJson, "application/json");
    xml.Empty("Url", {{"type", "application/x-suggestions+json"},
                      {"rel", "suggestions"},
                      {"template", StrCat(site.base_url, "/suggest?q={searchTerms}")}});
    xml.Empty("Query", {{"role", "example"}, {"searchTerms", "hash table"}});
    xml.TextElement("InputEncoding", "UTF-8");
    xml.TextElement("OutputEncoding", "UTF-8");
  }
  return xml.Take();
}

std::string ProblemDocument(const ErrorAnswer& error) {
  MarkupWriter xml(MarkupWriter::Syntax::kXml);
  WriteXmlDeclaration(xml);
  {
    const Element problem(xml, "problem", {{"xmlns", "urn:ietf:rfc:7807"}});
    xml.TextElement("type", "about:blank");
    xml.TextElement("title", error.title);
    xml.TextElement("status", StrCat(error.http_status));
    xml.TextElement("detail", error.detail);
    if (!error.parameter.empty()) xml.TextElement("parameter", error.parameter);
  }
  return xml.Take();
}

}  // namespace search::frontend::feed

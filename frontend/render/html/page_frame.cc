#include "frontend/render/html/page_frame.h"

#include <utility>

#include "frontend/render/html/static_files.h"
#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using neptune::StrCat;

std::string PathInFormat(SearchPageRequest request, PageFormat format) {
  request.format = format;
  return SearchPath(request);
}

void WriteAlternateLinks(MarkupWriter& html, const SearchPageRequest& request) {
  html.Empty("link", {{"rel", "alternate"},
                      {"type", "application/rss+xml"},
                      {"title", "These results as RSS"},
                      {"href", PathInFormat(request, PageFormat::kRss)}});
  html.Empty("link", {{"rel", "alternate"},
                      {"type", "application/atom+xml"},
                      {"title", "These results as Atom"},
                      {"href", PathInFormat(request, PageFormat::kAtom)}});
}

void WriteHead(MarkupWriter& html, const FrameOptions& options, const Site& site) {
  const Element head(html, "head");
  html.Empty("meta", {{"charset", "utf-8"}});
  html.Empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  html.Empty("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
  html.Empty("meta", {{"name", "referrer"}, {"content", "no-referrer"}});
  if (!options.is_home) html.Empty("meta", {{"name", "robots"}, {"content", "noindex"}});
  if (options.refresh_s > 0) {
    html.Empty("meta", {{"http-equiv", "refresh"}, {"content", options.refresh_s}});
  }
  html.TextElement("title",
                   options.title.empty() ? site.name : StrCat(options.title, " – ", site.name));
  html.Empty("link", {{"rel", "stylesheet"}, {"href", StyleSheetPath()}});
  html.Empty("link", {{"rel", "icon"}, {"type", "image/svg+xml"}, {"href", IconPath()}});
  html.Empty("link", {{"rel", "search"},
                      {"type", "application/opensearchdescription+xml"},
                      {"title", site.name},
                      {"href", "/opensearch.xml"}});
  if (options.alternate) WriteAlternateLinks(html, *options.alternate);
}

void WriteBar(MarkupWriter& html, const FrameOptions& options, const Site& site) {
  const Element header(html, "header", {{"class", "bar"}});
  const Element row(html, "div", {{"class", "bar-row"}});
  {
    const Element brand(html, "a",
                        {{"class", "brand"},
                         {"href", "/"},
                         {"aria-label", StrCat("Neptune: home of ", site.name)}});
    WriteLogo(html);
    html.TextElement("span", "Neptune", {{"class", "brand-name"}});
  }
  WriteSearchForm(html, options, false);
  html.TextElement("a", "Help", {{"class", "help-link"}, {"href", "/help"}});
}

void WriteFooterLink(MarkupWriter& html, std::string_view text, std::string_view path) {
  const Element item(html, "li");
  html.TextElement("a", text, {{"href", path}});
}

void WriteFooter(MarkupWriter& html, const FrameOptions& options) {
  const Element footer(html, "footer");
  const Element list(html, "ul");
  WriteFooterLink(html, "Query help", "/help");
  WriteFooterLink(html, "Console", "/console");
  WriteFooterLink(html, "This node", "/statusz");
  if (!options.alternate) return;
  for (const auto& [name, format] :
       {std::pair{"JSON", PageFormat::kJson}, std::pair{"RSS", PageFormat::kRss},
        std::pair{"Atom", PageFormat::kAtom}}) {
    WriteFooterLink(html, name, PathInFormat(*options.alternate, format));
  }
}

}  // namespace

void WriteLogo(MarkupWriter& html) {
  html.Trusted(TrustedMarkup(
      "<svg class=\"logo\" viewBox=\"0 0 32 32\" aria-hidden=\"true\" focusable=\"false\" "
      "fill=\"none\" stroke=\"currentColor\" stroke-width=\"2.2\" stroke-linecap=\"round\" "
      "stroke-linejoin=\"round\"><path d=\"M16 4v24M8 7v5a8 8 0 0 0 16 0V7M12 24h8\"/>"
      "<path d=\"M5.5 9.5L8 6l2.5 3.5M13.5 6.5L16 3l2.5 3.5M21.5 9.5L24 6l2.5 3.5\"/></svg>"));
}

void WriteSearchForm(MarkupWriter& html, const FrameOptions& options, bool takes_focus) {
  const Element form(html, "form",
                     {{"class", "search"}, {"role", "search"}, {"action", "/search"}});
  html.TextElement("label", "Search the documents",
                   {{"class", "visually-hidden"}, {"for", "query"}});
  html.Empty("input", {{"id", "query"},
                       {"type", "search"},
                       {"name", "q"},
                       {"value", options.query},
                       {"placeholder", "Search the documents"},
                       {"maxlength", SearchRequestLimits::kQuerySizeMax},
                       {"autocomplete", "off"},
                       {"autocapitalize", "none"},
                       {"spellcheck", "false"},
                       {"enterkeyhint", "search"},
                       {"dir", "auto"},
                       {"autofocus", takes_focus}});
  if (options.count != SearchRequestLimits::kCountDefault) {
    html.Empty("input", {{"type", "hidden"}, {"name", "count"}, {"value", options.count}});
  }
  html.TextElement("button", "Search", {{"type", "submit"}});
}

namespace internal {

void WriteFrameBegin(MarkupWriter& html, const FrameOptions& options, const Site& site) {
  html.Trusted(TrustedMarkup("<!DOCTYPE html>\n"));
  html.Open("html", {{"lang", "en"}});
  WriteHead(html, options, site);
  html.Open("body", {{"class", options.is_home ? "home" : options.is_wide ? "page wide" : "page"}});
  html.TextElement("a", options.skip_label, {{"class", "skip-link"}, {"href", "#content"}});
  if (!options.is_home) WriteBar(html, options, site);
  html.Open("main", {{"id", "content"}, {"tabindex", "-1"}});
}

void WriteFrameEnd(MarkupWriter& html, const FrameOptions& options) {
  html.Close();  // main
  WriteFooter(html, options);
  html.Trusted(CompletionScript());
  html.Close();  // body
  html.Close();  // html
}

}  // namespace internal
}  // namespace search::frontend

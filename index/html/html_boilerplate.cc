#include "index/html/html_boilerplate.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "index/html/html_tree.h"

namespace search::html {
namespace {

template <typename List>
bool Contains(const List& sorted, std::string_view name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

constexpr auto kRoles =
    std::to_array<std::string_view>({"complementary", "contentinfo", "navigation", "search"});
static_assert(std::is_sorted(kRoles.begin(), kRoles.end()));

constexpr auto kClasses = std::to_array<std::string_view>(
    {"bottomNav",  "breadcrumb",    "breadcrumbs", "catlinks",   "editsection",    "footer",
     "headerlink", "mainmenu",      "menu",        "mobile-nav", "mw-editsection", "nav",
     "nav-bar",    "navbar",        "navfooter",   "navheader",  "navigation",     "navigationbar",
     "noprint",    "out-of-band",   "printfooter", "related",    "searchmenu",     "sidebar",
     "skipNav",    "sphinxsidebar", "spirit-nav",  "subNav",     "submenu",        "t-navbar",
     "tagline",    "topNav",        "up"});

constexpr auto kIds = std::to_array<std::string_view>(
    {"catlinks", "column2", "contentSub", "cpp-footer-base", "cpp-head-base", "footer", "ft", "hd",
     "mw-navigation", "navigation", "page-header", "path", "quickview", "sidebar", "siteSub",
     "toc"});
static_assert(std::is_sorted(kClasses.begin(), kClasses.end()));
static_assert(std::is_sorted(kIds.begin(), kIds.end()));

bool HasBoilerplateClass(std::string_view classes) {
  while (!classes.empty()) {
    const size_t end = std::min(classes.find_first_of(" \t\n"), classes.size());
    const std::string_view name = classes.substr(0, end);
    if (Contains(kClasses, name)) return true;
    classes.remove_prefix(std::min(end + 1, classes.size()));
  }
  return false;
}

bool IsHidden(const GumboNode& node) {
  const std::string_view style = HtmlAttribute(node, "style");
  return HasHtmlAttribute(node, "hidden") || HtmlAttribute(node, "aria-hidden") == "true" ||
         style.find("display:none") != std::string_view::npos ||
         style.find("display: none") != std::string_view::npos;
}

}  // namespace

bool IsHtmlBoilerplate(const GumboNode& node) {
  switch (node.v.element.tag) {
    case GUMBO_TAG_SCRIPT:
    case GUMBO_TAG_STYLE:
    case GUMBO_TAG_TEMPLATE:
    case GUMBO_TAG_NOSCRIPT:
    case GUMBO_TAG_SVG:
    case GUMBO_TAG_NAV:
    case GUMBO_TAG_FOOTER:
    case GUMBO_TAG_IFRAME:
    case GUMBO_TAG_OBJECT:
    case GUMBO_TAG_BUTTON:
    case GUMBO_TAG_SELECT:
    case GUMBO_TAG_TEXTAREA:
      return true;
    case GUMBO_TAG_BODY:
    case GUMBO_TAG_MAIN:
      return false;
    default:
      break;
  }
  return Contains(kRoles, HtmlAttribute(node, "role")) ||
         HasBoilerplateClass(HtmlAttribute(node, "class")) ||
         Contains(kIds, HtmlAttribute(node, "id")) || IsHidden(node);
}

bool IsInvisibleHtml(const GumboNode& node) {
  switch (node.v.element.tag) {
    case GUMBO_TAG_SCRIPT:
    case GUMBO_TAG_STYLE:
    case GUMBO_TAG_TEMPLATE:
    case GUMBO_TAG_NOSCRIPT:
      return true;
    default:
      return false;
  }
}

}  // namespace search::html

#include "frontend/http/page_routes.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/api/api_document.h"
#include "frontend/http/http_answers.h"
#include "frontend/http/prepared_content.h"
#include "frontend/render/render.h"

namespace search::frontend {
namespace {

using neptune::HttpHeaders;
using neptune::HttpRequest;

constexpr std::string_view kRobots =
    "User-agent: *\n"
    "Disallow: /search\n"
    "Disallow: /doc/\n";

using Content = std::shared_ptr<const PreparedContent>;

void AddContent(std::string_view path, Content content, neptune::HttpRouter* router) {
  router->Add("GET", path, [content = std::move(content)](const HttpRequest& request) {
    return content->Respond(request.headers);
  });
}

Content PreparePage(const RenderedPage& page, std::string_view caching) {
  return std::make_shared<const PreparedContent>(
      page.body, HttpHeaders{{"Content-Type", page.content_type},
                             {"Cache-Control", caching},
                             {"Content-Security-Policy", ContentSecurityPolicy()}});
}

Content PrepareFile(const StaticFile& file, std::string_view caching) {
  return PreparePage({.content_type = file.content_type, .body = std::string(file.body)}, caching);
}

struct PreparedFile {
  std::string_view path;
  Content content;
};

// The files of the program are compressed once for all its frontends.
const std::vector<PreparedFile>& PreparedFiles() {
  static const std::vector<PreparedFile>* const files = [] {
    auto* const all = new std::vector<PreparedFile>;
    all->push_back({"/openapi.json", PrepareFile(ApiDocument(), "public, max-age=3600")});
    all->push_back(
        {"/robots.txt",
         std::make_shared<const PreparedContent>(
             std::string(kRobots), HttpHeaders{{"Content-Type", "text/plain; charset=utf-8"}})});
    for (const StaticFile& file : StaticFiles()) {
      all->push_back({file.path, PrepareFile(file, "public, max-age=31536000, immutable")});
      if (file.content_type.starts_with("image/")) {
        all->push_back({"/favicon.ico", PrepareFile(file, "public, max-age=86400")});
      }
    }
    return all;
  }();
  return *files;
}

}  // namespace

void AddPageRoutes(const SiteAddress& address, neptune::HttpRouter* router) {
  // These two have no absolute links, so that they are the same for every request. A new version
  // of the program has new ones, so clients ask each time whether theirs are current.
  const Site site = address.Of(HttpRequest());
  AddContent("/", PreparePage(RenderHomePage(site), "no-cache"), router);
  AddContent("/help", PreparePage(RenderHelpPage(site), "no-cache"), router);
  router->Add("GET", "/opensearch.xml", [&address](const HttpRequest& request) {
    return ToResponse(RenderOpenSearchDescription(address.Of(request)));
  });
  for (const PreparedFile& file : PreparedFiles()) AddContent(file.path, file.content, router);
}

}  // namespace search::frontend

#include "frontend/http/page_routes.h"

#include <string>
#include <string_view>

#include "frontend/api/api_document.h"
#include "frontend/http/http_answers.h"
#include "frontend/render/render.h"

namespace search::frontend {
namespace {

using neptune::HttpRequest;
using neptune::HttpResponse;

constexpr std::string_view kRobots =
    "User-agent: *\n"
    "Disallow: /search\n"
    "Disallow: /doc/\n";

void AddFile(std::string_view path, const StaticFile& file, std::string_view caching,
             neptune::HttpRouter* router) {
  router->Add("GET", path, [file, caching](const HttpRequest&) {
    HttpResponse response;
    response.headers.Set("Content-Type", file.content_type);
    response.headers.Set("Cache-Control", caching);
    response.headers.Set("Content-Security-Policy", ContentSecurityPolicy());
    response.body = file.body;
    return response;
  });
}

void AddFiles(neptune::HttpRouter* router) {
  AddFile("/openapi.json", ApiDocument(), "public, max-age=3600", router);
  for (const StaticFile& file : StaticFiles()) {
    AddFile(file.path, file, "public, max-age=31536000, immutable", router);
    if (file.content_type.starts_with("image/")) {
      AddFile("/favicon.ico", file, "public, max-age=86400", router);
    }
  }
}

}  // namespace

void AddPageRoutes(const SiteAddress& address, neptune::HttpRouter* router) {
  const auto add = [&](std::string_view path, RenderedPage (*render)(const Site&)) {
    router->Add("GET", path, [&address, render](const HttpRequest& request) {
      return ToResponse(render(address.Of(request)));
    });
  };
  add("/", RenderHomePage);
  add("/help", RenderHelpPage);
  add("/opensearch.xml", RenderOpenSearchDescription);
  AddFiles(router);
  router->Add("GET", "/robots.txt",
              [](const HttpRequest&) { return HttpResponse::Text(200, std::string(kRobots)); });
}

}  // namespace search::frontend

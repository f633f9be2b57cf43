#include "tools/lab/search/node_status.h"

#include "neptune/base/strings.h"
#include "tools/http/http_get.h"

namespace search::lab {
namespace {

using neptune::DataLoss;
using neptune::StatusOr;

std::string Escaped(const std::string& section) {
  std::string escaped;
  for (const char c : section) escaped += c == ' ' ? "%20" : std::string(1, c);
  return escaped;
}

}  // namespace

StatusOr<std::vector<tools::StatusTable>> ReadNodeStatus(const std::string& admin,
                                                         const std::string& section) {
  NEPTUNE_ASSIGN_OR_RETURN(const tools::HttpOrigin origin, tools::ParseHttpOrigin(admin));
  NEPTUNE_ASSIGN_OR_RETURN(
      const neptune::HttpResponse response,
      tools::HttpGet(origin, neptune::StrCat("/statusz?section=", Escaped(section), "&format=json"),
                     {}, {.timeout = kNodeStatusTimeMax}));
  if (response.status != 200) return DataLoss("the status page answers ", response.status);
  return tools::ParseStatusSection(response.body, section);
}

}  // namespace search::lab

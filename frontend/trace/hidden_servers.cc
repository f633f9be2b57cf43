#include "frontend/trace/hidden_servers.h"

#include <map>
#include <string>
#include <utility>

#include "neptune/base/strings.h"

namespace search::frontend {

void HideServers(SearchAnswer* answer) {
  std::map<std::string, std::string> shown_names;
  for (ServiceCoverage& tier : answer->coverage.tiers) {
    for (TreeServer& server : tier.tree) {
      auto [found, is_new] = shown_names.try_emplace(std::move(server.node));
      if (is_new) found->second = neptune::StrCat("server ", shown_names.size());
      server.node = found->second;
    }
  }
}

}  // namespace search::frontend

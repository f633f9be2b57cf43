#include "neptune/node/start_policy.h"

#include "neptune/base/strings.h"
#include "neptune/world/network.h"

namespace neptune {
namespace {

std::string TextOf(uint32_t address) {
  std::string text = Endpoint{address, 0}.ToString();
  text.resize(text.rfind(':'));
  return text;
}

}  // namespace

bool StaysOnThisMachine(uint32_t address) { return address >> 24 == kLoopbackAddress >> 24; }

Status CheckStart(const ClusterSpec& spec, const StartSurroundings& surroundings) {
  if (StaysOnThisMachine(surroundings.address)) return OkStatus();
  const std::string where = TextOf(surroundings.address);
  if (spec.cluster_key_file().empty() && !spec.trust_network()) {
    return FailedPrecondition(
        "at ", where, " others could join the cluster and call its services: the spec needs ",
        "cluster_key_file, or trust_network: true where only the nodes use the network");
  }
  if (surroundings.is_root && !surroundings.allows_root) {
    return FailedPrecondition("at ", where, " the node does not run as root; give it a user, or ",
                              "--allow_root");
  }
  return OkStatus();
}

std::vector<std::string> StartWarnings(const ClusterSpec& spec,
                                       const StartSurroundings& surroundings) {
  std::vector<std::string> warnings;
  if (surroundings.is_root) {
    warnings.push_back(
        "the node runs as root: a weakness of it or of a module gives away the machine; start it "
        "as a user that owns nothing but its data");
  }
  if (StaysOnThisMachine(surroundings.address) || spec.trust_network()) return warnings;
  if (!spec.has_node_tls()) {
    warnings.push_back(
        StrCat("calls at ", TextOf(surroundings.address),
               " are authenticated but not encrypted; name certificates in node_tls, or say "
               "trust_network: true"));
  }
  return warnings;
}

}  // namespace neptune

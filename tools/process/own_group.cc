#include "tools/process/own_group.h"

#include "neptune/base/strings.h"

namespace search::lab {

void SetOwnGroup(const neptune::UniquePort& port, neptune::ClusterSpec* spec) {
  spec->set_name(neptune::StrCat("lab-", port.number()));
  spec->set_multicast_group(neptune::StrCat("239.192.7.3:", port.number()));
}

}  // namespace search::lab

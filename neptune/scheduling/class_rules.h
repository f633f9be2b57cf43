// Classifies a request by the class it names, its method and its partition.
//
//   first matching rule with `always` ─► class named by the request ─► first matching rule
//   ─► default class
//
// Source: [Shen02] 4.2 (classes by client identity, service type and partition).
// Threads: pure functions and immutable values.
// Limits: O(rules).

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/scheduling/service_class.h"

namespace neptune {

struct ClassRule {
  ClassNumber service_class = 0;
  std::string method;                   // empty: any
  std::vector<PartitionId> partitions;  // empty: any
  bool always = false;                  // applies even if the request names a class
};

// `named`: the class named by the request, if it is one of the cluster's.
ClassNumber ClassByRules(const std::vector<ClassRule>& rules, std::string_view method,
                         PartitionId partition, std::optional<ClassNumber> named,
                         ClassNumber otherwise);

}  // namespace neptune

#include "neptune/scheduling/class_rules.h"

#include <algorithm>

namespace neptune {
namespace {

bool Matches(const ClassRule& rule, std::string_view method, PartitionId partition) {
  if (!rule.method.empty() && rule.method != method) return false;
  return rule.partitions.empty() || std::find(rule.partitions.begin(), rule.partitions.end(),
                                              partition) != rule.partitions.end();
}

}  // namespace

ClassNumber ClassByRules(const std::vector<ClassRule>& rules, std::string_view method,
                         PartitionId partition, std::optional<ClassNumber> named,
                         ClassNumber otherwise) {
  for (const ClassRule& rule : rules) {
    if (named && !rule.always) continue;
    if (Matches(rule, method, partition)) return rule.service_class;
  }
  return named.value_or(otherwise);
}

}  // namespace neptune

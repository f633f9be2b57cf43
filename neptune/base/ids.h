// Strong ids: ids of different kinds have different types, so the compiler tells them apart.
//
// Threads: immutable values.
// Shapes: a partition is a 0-based share of a service's data; a replica is one copy of it, named by
//   the node that hosts it. A NodeId is the node's name in the cluster spec, unique in the cluster.

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <utility>

namespace neptune {

template <typename Tag, typename Value>
class StrongId {
 public:
  StrongId() = default;
  explicit StrongId(Value value) : value_(std::move(value)) {}

  const Value& value() const { return value_; }

  friend auto operator<=>(const StrongId&, const StrongId&) = default;
  friend bool operator==(const StrongId&, const StrongId&) = default;
  friend std::ostream& operator<<(std::ostream& out, const StrongId& id) {
    return out << id.value_;
  }
  template <typename H>
  friend H AbslHashValue(H state, const StrongId& id) {
    return H::combine(std::move(state), id.value_);
  }

 private:
  Value value_{};
};

using NodeId = StrongId<struct NodeIdTag, std::string>;
using ServiceName = StrongId<struct ServiceNameTag, std::string>;
using MethodName = StrongId<struct MethodNameTag, std::string>;
using PartitionId = StrongId<struct PartitionIdTag, uint32_t>;

}  // namespace neptune

template <typename Tag, typename Value>
struct std::hash<neptune::StrongId<Tag, Value>> {
  size_t operator()(const neptune::StrongId<Tag, Value>& id) const {
    return std::hash<Value>()(id.value());
  }
};

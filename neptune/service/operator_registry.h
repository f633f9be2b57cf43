// Registry of a node's reduce operators by name. An aggregating node looks up the operator of a
// call here.
//
// Source: [Chu03] 3.3 (operators are registered callbacks).
// Threads: thread-safe.

#pragma once

#include <map>
#include <string>

#include "neptune/base/leaf_mutex.h"
#include "neptune/service/service_module.h"

namespace neptune {

struct RegisteredReduce {
  ReduceOperator function;
  ReduceOptions options;
};

class OperatorRegistry {
 public:
  // Replaces an operator of the same name, because modules of one service register the same
  // operators.
  void Register(const MethodName& name, const ReduceOptions& options, ReduceOperator reduce) {
    LeafLock lock(&mutex_);
    operators_[name.value()] = {std::move(reduce), options};
  }
  void RegisterStream(const MethodName& name, StreamReduceOperator reduce) {
    LeafLock lock(&mutex_);
    stream_operators_[name.value()] = std::move(reduce);
  }
  // Errors: kNotFound.
  StatusOr<StreamReduceOperator> FindStream(const MethodName& name) const {
    LeafLock lock(&mutex_);
    const auto found = stream_operators_.find(name.value());
    if (found != stream_operators_.end()) return found->second;
    return NotFound("no stream reduce operator '", name, "' on this node");
  }
  // Errors: kNotFound.
  StatusOr<RegisteredReduce> Find(const MethodName& name) const {
    LeafLock lock(&mutex_);
    const auto found = operators_.find(name.value());
    if (found == operators_.end()) return NotFound("no reduce operator '", name, "' on this node");
    return found->second;
  }

 private:
  mutable LeafMutex mutex_;
  std::map<std::string, RegisteredReduce> operators_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, StreamReduceOperator> stream_operators_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune

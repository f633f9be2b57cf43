#include "neptune/balancing/random_policies.h"

#include "neptune/balancing/replica_choice.h"

namespace neptune {

ReplicaChoice RandomPolicy::Choose(const ReplicaQuestion& question) {
  return RandomCandidate(question, random_);
}

ReplicaChoice RoundRobinPolicy::Choose(const ReplicaQuestion& question) {
  return {question.candidates[round_++ % question.candidates.size()]};
}

ReplicaChoice BroadcastPolicy::Choose(const ReplicaQuestion& question) {
  std::vector<uint32_t> loads;
  loads.reserve(question.candidates.size());
  for (const size_t i : question.candidates) {
    loads.push_back(question.replicas[i].announced_load_index());
  }
  return {question.candidates[ChooseLeastLoaded(loads, random_)]};
}

}  // namespace neptune

#include "tools/lab/registry.h"

#include <algorithm>
#include <iterator>

namespace search::lab {

// Each is generated from the list in the BUILD file of its subject's folder.
std::vector<Experiment> BalancingExperiments();
std::vector<Experiment> RpcExperiments();
std::vector<Experiment> MembershipExperiments();
std::vector<Experiment> AggregationExperiments();
std::vector<Experiment> CapsulesExperiments();
std::vector<Experiment> TerminationExperiments();
std::vector<Experiment> ReplicationExperiments();
std::vector<Experiment> ThreadsExperiments();
std::vector<Experiment> SchedulingExperiments();
std::vector<Experiment> SearchExperiments();

std::vector<Experiment> AllExperiments() {
  std::vector<Experiment> all;
  for (const auto subject :
       {BalancingExperiments, RpcExperiments, MembershipExperiments, AggregationExperiments,
        CapsulesExperiments, TerminationExperiments, ReplicationExperiments, ThreadsExperiments,
        SchedulingExperiments, SearchExperiments}) {
    std::vector<Experiment> experiments = subject();
    std::move(experiments.begin(), experiments.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace search::lab

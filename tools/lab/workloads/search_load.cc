#include "tools/lab/workloads/search_load.h"

#include <algorithm>
#include <map>
#include <string>

namespace search::lab {
namespace {

constexpr double kGoalS = 1;

double DueS(const tools::Measurement& one) {
  return neptune::ToSeconds(neptune::Duration(one.intended_ns));
}

}  // namespace

const char kSearchClasses[] = R"(
  service_classes { name: 'gold' guarantee: 0.2
                    yield { form: 'hybrid' full: 4 full_until_ms: 500 at_deadline: 2 deadline_ms: 1000 } }
  service_classes { name: 'silver' guarantee: 0.2
                    yield { form: 'hybrid' full: 2 full_until_ms: 500 at_deadline: 1 deadline_ms: 1000 } }
  service_classes { name: 'bronze' guarantee: 0.2
                    yield { form: 'hybrid' full: 1 full_until_ms: 500 at_deadline: 0.5 deadline_ms: 1000 } })";

size_t SearchDocumentCount(const RunContext& context) {
  return context.Pick<size_t>(3'000, 80'000, 80'000);
}

neptune::StatusOr<const SyntheticIndex*> SearchIndex(const RunContext& context) {
  return SyntheticIndex::Shared(SearchDocumentCount(context));
}

HttpLoadOptions SearchLoad(const neptune::Endpoint& server, const RunContext& context) {
  HttpLoadOptions load;
  load.server = server;
  load.path = "/search?format=json&q=";
  load.seed = context.seed;
  load.read_facts = true;
  return load;
}

bool IsGoodAnswer(const tools::Measurement& one) {
  return one.outcome == tools::Outcome::kAnswered && one.quality >= 1 && one.terminated == 0 &&
         one.latency_ns() <= neptune::FromSeconds(kGoalS).count();
}

std::vector<tools::Measurement> DueIn(const std::vector<tools::Measurement>& measurements,
                                      double begin_s, double end_s) {
  std::vector<tools::Measurement> due;
  for (const tools::Measurement& one : measurements) {
    if (DueS(one) >= begin_s && DueS(one) < end_s) due.push_back(one);
  }
  return due;
}

double LatencyQuantileS(const std::vector<tools::Measurement>& measurements, double share) {
  if (measurements.empty()) return 0;
  std::vector<int64_t> latencies_ns;
  for (const tools::Measurement& one : measurements) latencies_ns.push_back(one.latency_ns());
  const auto rank = static_cast<ptrdiff_t>(share * static_cast<double>(latencies_ns.size() - 1));
  std::nth_element(latencies_ns.begin(), latencies_ns.begin() + rank, latencies_ns.end());
  return neptune::ToSeconds(neptune::Duration(latencies_ns[static_cast<size_t>(rank)]));
}

void AddOutcomes(const std::vector<tools::Measurement>& measurements, double length_s,
                 Measurement* measured) {
  std::map<std::string, double> counts{
      {"rejected", 0}, {"error", 0}, {"timeout", 0}, {"connection", 0}};
  double failed = 0;
  double hits = 0;
  for (const tools::Measurement& one : measurements) {
    hits += one.cache == tools::CacheFact::kHit;
    if (one.outcome == tools::Outcome::kAnswered) continue;
    ++failed;
    ++counts[std::string(tools::OutcomeName(one.outcome))];
  }
  const double all = std::max(1.0, static_cast<double>(measurements.size()));
  (*measured)["failed_percent"] = 100 * failed / all;
  (*measured)["hit_percent"] = 100 * hits / all;
  (*measured)["offered_per_s"] = all / length_s;
  for (const auto& [name, count] : counts) (*measured)["failed_by_" + name] = count;
}

Experiment SearchExperiment() {
  Experiment experiment;
  experiment.source = "bounds of this system";
  experiment.worlds = {WorldKind::kReal};
  experiment.parallel = false;
  experiment.seeds = {.smoke = 1, .quick = 1, .full = 5};
  return experiment;
}

}  // namespace search::lab

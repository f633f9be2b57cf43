#include "neptune/world/sim/simulator.h"

#include <glog/logging.h>

#include <utility>

namespace neptune {
namespace {

constexpr uint32_t kFirstAddress = 10u << 24;  // 10.0.0.0/8
constexpr uint64_t kScriptStream = uint64_t{1} << 40;

}  // namespace

Simulator::Simulator(uint64_t seed, const SimOptions& options)
    : kernel_(seed),
      network_(kernel_, options.network),
      script_random_(DeriveSeed(seed, kScriptStream)),
      wall_time_start_ns_(options.wall_time_start_ns) {}

Simulator::~Simulator() {
  kernel_.AdoptThread();
  for (const auto& host : hosts_) host->Crash(CrashKind::kMachine);
}

SimWorld& Simulator::AddHost(HostOptions options) {
  const int index = static_cast<int>(hosts_.size());
  CHECK_LT(index, kHostCountMax);
  if (options.address == 0) options.address = kFirstAddress + index + 1;
  CHECK(host_of_name_.emplace(options.name, index).second) << "two hosts named " << options.name;
  hosts_.push_back(
      std::make_unique<SimWorld>(kernel_, network_, index, options, wall_time_start_ns_));
  hosts_.back()->Boot();
  return *hosts_.back();
}

SimWorld& Simulator::host(const std::string& name) {
  const auto found = host_of_name_.find(name);
  CHECK(found != host_of_name_.end()) << "no simulated host is named " << name;
  return *hosts_[found->second];
}

std::vector<std::string> Simulator::host_names() const {
  std::vector<std::string> names;
  for (const auto& host : hosts_) names.push_back(host->name());
  return names;
}

bool Simulator::StepBefore(TimePoint limit) {
  if (!kernel_.Step(limit)) return false;
  for (const auto& check : checks_) check();
  return true;
}

void Simulator::RunUntil(TimePoint end) {
  kernel_.AdoptThread();
  while (StepBefore(end)) {
  }
  kernel_.AdvanceTo(end);
}

bool Simulator::RunUntilIdle(TimePoint limit) {
  kernel_.AdoptThread();
  while (StepBefore(limit)) {
  }
  if (kernel_.pending_count() == 0) return true;
  kernel_.AdvanceTo(limit);
  return false;
}

bool Simulator::RunUntilTrue(const std::function<bool()>& done, TimePoint limit) {
  kernel_.AdoptThread();
  while (!done()) {
    if (StepBefore(limit)) continue;
    kernel_.AdvanceTo(limit);
    return false;
  }
  return true;
}

void Simulator::Crash(const std::string& name, CrashKind kind) {
  SimWorld& crashed = host(name);
  if (crashed.running()) crashed.Crash(kind);
}

void Simulator::SlowProcessors(const std::string& name, double factor) {
  host(name).sim_processors().SetSlowdown(factor);
}

std::set<int> Simulator::Indices(const std::set<std::string>& names) {
  std::set<int> indices;
  for (const std::string& name : names) indices.insert(host(name).state().index);
  return indices;
}

LinkModel::CutId Simulator::Partition(const std::set<std::string>& from,
                                      const std::set<std::string>& to, bool both_ways) {
  return network_.links().Cut(Indices(from), Indices(to), both_ways);
}

LinkModel::CutId Simulator::LoseOneWay(const std::set<std::string>& from,
                                       const std::set<std::string>& to, double probability) {
  return network_.links().Cut(Indices(from), Indices(to), /*both_ways=*/false, probability);
}

void Simulator::Heal(LinkModel::CutId cut) {
  network_.links().Heal(cut);
  network_.RetryHeld();
}

void Simulator::HealAll() {
  network_.links().HealAll();
  network_.RetryHeld();
}

void Simulator::SetLink(const std::string& from, const std::string& to,
                        const LinkConditions& conditions) {
  network_.links().SetConditions(host(from).state().index, host(to).state().index, conditions);
}

void Simulator::DelayDatagrams(std::function<Duration(const std::string& host)> extra) {
  network_.links().DelayDatagrams([this, extra = std::move(extra)](int to) {
    return extra(hosts_[static_cast<size_t>(to)]->name());
  });
}

}  // namespace neptune

#include "neptune/capsule/capsule_policy.h"

#include <glog/logging.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

namespace neptune {
namespace {

class FifoPolicy final : public CapsulePolicy {
 public:
  void Wait(const CapsuleCall& call) override { waiting_.insert(call.id); }
  void Forget(uint64_t id) override { waiting_.erase(id); }
  std::optional<uint64_t> Next(const CapsuleOccupancy&) override {
    if (waiting_.empty()) return std::nullopt;
    return waiting_.extract(waiting_.begin()).value();
  }

 private:
  std::set<uint64_t> waiting_;  // numbers rise with time
};

class RoundRobinPolicy final : public CapsulePolicy {
 public:
  void Wait(const CapsuleCall& call) override {
    caller_of_[call.id] = call.caller;
    std::set<uint64_t>& calls = calls_[call.caller];
    if (calls.empty()) turns_.push_back(call.caller);
    calls.insert(call.id);
  }

  void Forget(uint64_t id) override {
    const auto found = caller_of_.extract(id);
    if (found.empty()) return;
    const auto calls = calls_.find(found.mapped());
    calls->second.erase(id);
    if (!calls->second.empty()) return;
    std::erase(turns_, calls->first);
    calls_.erase(calls);
  }

  std::optional<uint64_t> Next(const CapsuleOccupancy&) override {
    if (turns_.empty()) return std::nullopt;
    const uint64_t caller = turns_.front();
    turns_.pop_front();
    const auto calls = calls_.find(caller);
    const uint64_t id = calls->second.extract(calls->second.begin()).value();
    caller_of_.erase(id);
    if (calls->second.empty()) {
      calls_.erase(calls);
    } else {
      turns_.push_back(caller);
    }
    return id;
  }

 private:
  std::map<uint64_t, std::set<uint64_t>> calls_;  // of each caller that has any
  std::map<uint64_t, uint64_t> caller_of_;
  std::deque<uint64_t> turns_;
};

class PriorityPolicy final : public CapsulePolicy {
 public:
  void Wait(const CapsuleCall& call) override {
    waiting_.emplace(call.priority, call.id);
    priority_of_[call.id] = call.priority;
  }
  void Forget(uint64_t id) override {
    const auto priority = priority_of_.extract(id);
    if (!priority.empty()) waiting_.erase({priority.mapped(), id});
  }
  std::optional<uint64_t> Next(const CapsuleOccupancy&) override {
    if (waiting_.empty()) return std::nullopt;
    const uint64_t id = waiting_.extract(waiting_.begin()).value().second;
    priority_of_.erase(id);
    return id;
  }

 private:
  std::set<std::pair<int, uint64_t>> waiting_;
  std::map<uint64_t, int> priority_of_;
};

}  // namespace

std::unique_ptr<CapsulePolicy> MakeFifoPolicy() { return std::make_unique<FifoPolicy>(); }
std::unique_ptr<CapsulePolicy> MakeRoundRobinPolicy() {
  return std::make_unique<RoundRobinPolicy>();
}
std::unique_ptr<CapsulePolicy> MakePriorityPolicy() { return std::make_unique<PriorityPolicy>(); }

std::unique_ptr<CapsulePolicy> MakeBuiltInPolicy(PolicyKind kind) {
  switch (kind) {
    case PolicyKind::kFifo:
      return MakeFifoPolicy();
    case PolicyKind::kRoundRobin:
      return MakeRoundRobinPolicy();
    case PolicyKind::kPriority:
      return MakePriorityPolicy();
    case PolicyKind::kPlugin:
      break;
  }
  LOG(FATAL) << "policy " << static_cast<int>(kind) << " is not built in";
}

int PriorityOf(const PolicyConfig& config, std::string_view service_class) {
  const auto found = std::find(config.classes.begin(), config.classes.end(), service_class);
  return static_cast<int>(found - config.classes.begin());
}

}  // namespace neptune

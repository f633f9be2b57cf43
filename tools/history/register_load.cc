#include "tools/history/register_load.h"

#include <utility>

#include "neptune/base/strings.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/random_source.h"

namespace search::history {

using neptune::AccessMode;
using neptune::Data;
using neptune::StrCat;

void RegisterLoad::Begin(neptune::Node& node, int session) {
  ++active_count_;
  node.RunOnControl([this, &node, session] {
    Run(node, session);
    --active_count_;
  });
}

void RegisterLoad::Run(neptune::Node& node, int session) {
  neptune::ReplicaSession replicas{neptune::ClientSession(node.client())};
  neptune::RandomSource random(options_.seed * 1000 + static_cast<uint64_t>(session));
  for (int i = 0; !is_over_; ++i) {
    RegisterOperation operation;
    operation.session = session;
    operation.partition = static_cast<uint32_t>(random.Next() % options_.partition_count);
    const auto chosen =
        static_cast<int>(random.Next() % static_cast<uint64_t>(options_.register_count));
    operation.key = StrCat("k", i / options_.calls_until_new * options_.register_count + chosen);
    operation.is_write = random.Next() % 2 == 0;
    operation.text = StrCat(session, ".", i, ";");
    Do(replicas, std::move(operation));
    const auto pause =
        neptune::FromSeconds(random.Exponential(neptune::ToSeconds(options_.pause_mean)));
    if (neptune::this_thread::SleepFor(pause) == neptune::ParkResult::kStopping) return;
  }
}

std::set<std::pair<uint32_t, std::string>> RegisterLoad::Registers() const {
  std::set<std::pair<uint32_t, std::string>> registers;
  for (const RegisterOperation& operation : history_) {
    registers.emplace(operation.partition, operation.key);
  }
  return registers;
}

void RegisterLoad::Do(neptune::ReplicaSession& session, RegisterOperation operation) {
  operation.begin = neptune::this_thread::Now();
  const size_t index = history_.size();
  history_.push_back(operation);  // others' calls begin before this one ends
  Data response;
  neptune::ReplicaReport report;
  const std::string request =
      operation.is_write ? StrCat(operation.key, "=", operation.text) : operation.key;
  const neptune::Status status = session.Call(
      {neptune::ServiceName(kRegisterService), neptune::PartitionId(operation.partition),
       neptune::MethodName(operation.is_write ? options_.write_method : "Get"),
       operation.is_write ? AccessMode::kWrite : AccessMode::kRead},
      Data(request), &response, {.deadline = operation.begin + kRegisterTimeout}, &report);
  operation.end = neptune::this_thread::Now();
  operation.is_acknowledged = status.ok();
  if (status.ok()) operation.value = response.bytes();
  operation.version = report.version;
  operation.staleness = report.staleness;
  history_[index] = std::move(operation);
}

}  // namespace search::history

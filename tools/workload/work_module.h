// A service whose requests specify their processor time: the synthetic workload of the papers.
//
//   Run   long; the request is WorkRequest(cost, wait), the answer is empty. It works, then waits
//         outside of the pool as if for another node.
//
// The parameter `cpu` chooses how time is used. "processors": those of the world, modelled in the
// simulated world and spun in the real one (so "spin" means the same). "emulated": the node owns
// `processors` virtual ones and a request sleeps while it holds one: for many nodes on few real
// processors, right for costs well above a millisecond, and useless where running code must be
// interrupted.
//
// Source: [Shen02] 3.4 (service time is really consumed).
// Threads: as ServiceModule says.
// Errors: kInvalidArgument a request that is not a cost; kInternal while it is set to fail.

#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "neptune/service/service_module.h"
#include "neptune/thread/synchronization.h"

namespace search::workload {

inline constexpr char kWorkMethod[] = "Run";

// Returns the payload that requests this much processor time, followed by a wait.
std::string WorkRequest(neptune::Duration cost, neptune::Duration wait = neptune::Duration(0));

// How a node treats its requests, changed while it runs. Shared by the module and the script.
struct Conduct {
  enum class Kind {
    kNormal,
    kFailing,  // kInternal after `share` of the cost
    kHung,     // no request ends; the node keeps announcing itself
  };
  std::atomic<Kind> kind{Kind::kNormal};
  std::atomic<double> share{1};
};

class WorkModule final : public neptune::ServiceModule {
 public:
  explicit WorkModule(std::shared_ptr<Conduct> conduct = std::make_shared<Conduct>())
      : conduct_(std::move(conduct)) {}

  void DeclareParameters(neptune::ParameterTable& table) override;
  neptune::Status Start(neptune::ModuleContext& context) override;
  std::string implementation() const override { return "work"; }

 private:
  neptune::Status Run(neptune::RequestContext& context, const neptune::Data& request);
  neptune::Status Work(neptune::RequestContext& context, neptune::Duration cost);
  void Use(neptune::World& world, neptune::Duration cost);
  // Returns false if the request was cancelled before the end.
  bool UseInSlices(neptune::RequestContext& context, neptune::Duration cost);

  const std::shared_ptr<Conduct> conduct_;
  // Parameters, fixed before Start.
  std::string cpu_ = "processors";
  double processor_count_ = 1;
  double slowness_ = 1;
  double slice_ms_ = 0;

  bool emulated_ = false;
  neptune::Duration slice_{0};
  neptune::ThreadMutex mutex_;
  neptune::ThreadCondition freed_;
  int free_processors_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace search::workload

#include "neptune/node/node_replicas.h"

#include <glog/logging.h>

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/numbers.h"
#include "neptune/base/strings.h"
#include "neptune/wire/http/problem.h"

namespace neptune {

HttpResponse StartReplica(const HttpRequest& request, const Replication& replication) {
  const auto service = request.Parameter("service");
  const auto partition = request.Parameter("partition");
  uint32_t number = 0;
  if (!service || service->empty() || !partition ||
      !absl::SimpleAtoi(ToAbsl(*partition), &number)) {
    return ProblemResponse(
        InvalidArgument("the parameters service=NAME and partition=N are required"));
  }
  const ReplicaKeeper* const keeper =
      replication.FindKeeper(ServiceName(std::string(*service)), PartitionId(number));
  if (keeper == nullptr)
    return ProblemResponse(NotFound(*service, "/", number, " is not on this node"));
  const auto agent = keeper->AgentNow();
  const Status started = agent.ok() ? (*agent)->StartByHand() : agent.status();
  if (!started.ok()) return ProblemResponse(Annotate(started, StrCat(*service, "/", number)));
  LOG(WARNING) << *service << "/" << number << " started manually from this node's data by "
               << request.peer;
  return HttpResponse::Text(200, "started\n");
}

}  // namespace neptune

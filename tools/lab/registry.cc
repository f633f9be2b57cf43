#include "tools/lab/registry.h"

#include "tools/lab/experiments/experiments.h"

namespace search::lab {

std::vector<Experiment> AllExperiments() {
  return {
      LbStaleness(), EchoOverhead(), RpcEcho(), RpcTail(), RpcFeatures(), MemberDetect(),
  };
}

}  // namespace search::lab

#include "tools/lab/registry.h"

#include "tools/lab/experiments.h"

namespace search::lab {

std::vector<Experiment> AllExperiments() {
  return {
      // Load balancing.
      LbStaleness(),
      LbBroadcast(),
      LbPolling(),
      LbDiscard(),
      LbModern(),
      LbSink(),
      LbReal(),
      // The service call.
      EchoOverhead(),
      RpcEcho(),
      RpcTail(),
      RpcFeatures(),
      MemberDetect(),
      // Data aggregation calls.
      DacTrees(),
      DacHetero(),
      DacScale(),
      DacEvent(),
      DacUnresponsive(),
      DacFidelity(),
      DacLoss(),
      DacDeadline(),
      DacCancel(),
      DacEase(),
      // Dependency capsules.
      CapRubis(),
      CapRet(),
      CapAuc(),
      CapThrottle(),
      CapBbs(),
      CapFeedback(),
      CapMigration(),
      CapOverhead(),
      CapsuleIsolation(),
      // Selective early request termination.
      SertMotivation(),
      SertSearch(),
      SertSafety(),
      SertCost(),
      SertShift(),
      SertCdf(),
      SertController(),
      SertRanking(),
      // Replicated services.
      ReplScaling(),
      ReplSkew(),
      ReplRecovery(),
      ReplAuction(),
      ReplPcache(),
      ReplChaos(),
      // Threads for service classes.
      Overload(),
      MtrrLimits(),
      MtrrSpeedup(),
      MtrrSingle(),
      MtrrClasses(),
      MtrrInterference(),
      // Class-aware scheduling.
      SchedPolicies(),
      SchedBreakdown(),
      SchedBeyond(),
      SchedScaling(),
      SchedSpike(),
      // The whole service.
      SearchOverload(),
      SearchFailover(),
      SearchSwap(),
      ObserveCost(),
      ObserveOverload(),
      SearchUpdates(),
  };
}

}  // namespace search::lab

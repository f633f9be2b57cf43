// Every experiment: one file each, named like the experiment, in the folder of its subject.
//
// Source: as each says. Threads: pure functions.

#pragma once

#include "tools/lab/engine/experiment.h"

namespace search::lab {

// Load balancing.
Experiment LbStaleness();
Experiment LbBroadcast();
Experiment LbPolling();
Experiment LbDiscard();
Experiment LbModern();
Experiment LbSink();
Experiment LbReal();

// The service call.
Experiment EchoOverhead();
Experiment RpcEcho();
Experiment RpcTail();
Experiment RpcFeatures();

// Membership.
Experiment MemberDetect();

// Data aggregation calls.
Experiment DacTrees();
Experiment DacHetero();
Experiment DacScale();
Experiment DacEvent();
Experiment DacUnresponsive();
Experiment DacFidelity();
Experiment DacDeadline();
Experiment DacLoss();
Experiment DacCancel();
Experiment DacEase();

// Dependency capsules.
Experiment CapRubis();
Experiment CapRet();
Experiment CapAuc();
Experiment CapThrottle();
Experiment CapBbs();
Experiment CapFeedback();
Experiment CapMigration();
Experiment CapOverhead();
Experiment CapsuleIsolation();

// Selective early request termination.
Experiment SearchFailover();
Experiment SearchSwap();
Experiment ObserveCost();
Experiment ObserveOverload();
Experiment SearchUpdates();
Experiment SearchOverload();
Experiment SertMotivation();
Experiment SertSearch();
Experiment SertSafety();
Experiment SertCost();
Experiment SertShift();
Experiment SertCdf();
Experiment SertController();
Experiment SertRanking();
Experiment ReplChaos();

// Replicated services.
Experiment ReplScaling();
Experiment ReplSkew();
Experiment ReplRecovery();
Experiment ReplAuction();
Experiment ReplPcache();

// Threads for service classes.
Experiment Overload();
Experiment MtrrLimits();
Experiment MtrrSpeedup();
Experiment MtrrSingle();
Experiment MtrrClasses();
Experiment MtrrInterference();

// Class-aware scheduling.
Experiment SchedPolicies();
Experiment SchedBreakdown();
Experiment SchedBeyond();
Experiment SchedScaling();
Experiment SchedSpike();

}  // namespace search::lab

#include "tools/lab/kit/host_faults.h"

namespace search::lab {

using workload::ScriptEvent;

bool ApplyToHost(const ScriptEvent& event, neptune::Simulator& simulator) {
  switch (event.kind) {
    case ScriptEvent::Kind::kPause:
      simulator.Pause(event.node);
      return true;
    case ScriptEvent::Kind::kResume:
      simulator.Resume(event.node);
      return true;
    case ScriptEvent::Kind::kCrash:
      simulator.Crash(event.node);
      return true;
    case ScriptEvent::Kind::kRestart:
      simulator.Restart(event.node);
      return true;
    case ScriptEvent::Kind::kSlow:
      simulator.SlowProcessors(event.node, event.amount);
      return true;
    case ScriptEvent::Kind::kFail:
    case ScriptEvent::Kind::kHang:
    case ScriptEvent::Kind::kNormal:
      return false;
  }
  return false;
}

}  // namespace search::lab

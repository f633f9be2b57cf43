// Runs a call that would block the kernel thread on the helper threads of a device capsule.
//
//   user-level thread                      helper thread of capsule "store"
//   RunOnDevice(stack, path, call) ──call─► runs it
//        parks                     ◄─value─ wakes it
//
//   NEPTUNE_ASSIGN_OR_RETURN(std::string bytes, RunOnDevice(stack, "/var/store", [db, key] {
//                              return db->Get(key);
//                            }));
//
// The call is one call into an operating system, a storage engine or a resolver: it must not use
// the runtime's threads (park, sleep, mutex). It must own what it uses, because a caller whose
// deadline passes continues without it and the call ends later. If the call uses memory of the
// caller, DeviceWait::kForEnd makes the caller wait for its end, however long it takes.
//
// If no capsule takes the path, or there are no helper threads, the call runs on the calling
// thread. In the simulated world, which has one kernel thread, the call then holds one of the
// capsule's places for CapsuleStackOptions::device_time, so it waits its turn, times out and is
// refused as in the real world.
//
// Source: [Chu05] IV.B (helper threads in disk capsules).
// Threads: on a user-level thread.
// Errors: those of CapsulePermit::Enter; kDeadlineExceeded, kCancelled while the call runs.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "neptune/base/status.h"
#include "neptune/capsule/capsule_permit.h"

namespace neptune {

enum class DeviceWait {
  kUntilDeadline,  // the call owns what it uses
  kForEnd,         // the call uses memory of the caller
};

// RunOnDevice for a call without a value. OK: the call has run.
Status RunTaskOnDevice(CapsuleStack& stack, std::string_view path, Task call,
                       const VisitOptions& options = {},
                       DeviceWait wait = DeviceWait::kUntilDeadline);

// Creates a device capsule with default bounds for the files below `folder`, unless a capsule takes
// them already. Services call it for stores for which the spec defines no capsule.
// Errors: those of ClassificationRule::Parse and CapsuleStack::Create.
Status MakeDeviceCapsule(CapsuleStack& stack, const std::string& name, const std::string& folder);

// The result of RunOnDevice for a call with this result: that of a call that can fail itself has
// the errors of both. (A StatusOr<Status> would take an error of the capsule for a value.)
template <typename Result>
struct DeviceResult {
  using type = StatusOr<Result>;
};
template <>
struct DeviceResult<Status> {
  using type = Status;
};
template <typename Value>
struct DeviceResult<StatusOr<Value>> {
  using type = StatusOr<Value>;
};

// Runs the call and returns its result. A caller that must know whether the call has run uses
// RunTaskOnDevice.
template <typename Call>
typename DeviceResult<std::invoke_result_t<Call&>>::type RunOnDevice(
    CapsuleStack& stack, std::string_view path, Call call, const VisitOptions& options = {},
    DeviceWait wait = DeviceWait::kUntilDeadline) {
  const auto result = std::make_shared<std::optional<std::invoke_result_t<Call&>>>();
  NEPTUNE_RETURN_IF_ERROR(RunTaskOnDevice(
      stack, path, [result, call = std::move(call)]() mutable { result->emplace(call()); }, options,
      wait));
  return **std::move(result);
}

}  // namespace neptune

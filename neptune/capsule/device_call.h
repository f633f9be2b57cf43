// A call that would block the kernel thread, shipped whole to the helper threads of a device capsule.
//
//   user-level thread                      helper thread of capsule "store"
//   RunOnDevice(stack, path, call) ──call─► runs it
//        parks                     ◄─value─ wakes it
//
//   NEPTUNE_ASSIGN_OR_RETURN(std::string bytes, RunOnDevice(stack, "/var/store", [db, key] { return db->Get(key); }));
//
// What runs there is one call into an operating system, a storage engine or a resolver: it must not use anything of
// the runtime's threads (park, sleep, mutex). It owns what it uses: a caller whose deadline passes goes on without
// it, and the call ends by itself later. Where that cannot be had, because the call reads or writes memory of the
// caller, kWaitForEnd makes the caller wait for its end however long it takes.
//
// Where no capsule takes the path, or there are no helper threads, the call runs where it is made. In the simulated
// world, which has one kernel thread, it takes one of the capsule's places for the time that
// CapsuleStackOptions::device_time says, and so waits its turn, times out and is refused as in the real one.
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
  kForEnd,         // it uses memory of the caller
};

// `call` without a value. OK: it has run.
Status RunTaskOnDevice(CapsuleStack& stack, std::string_view path, Task call,
                       const VisitOptions& options = {},
                       DeviceWait wait = DeviceWait::kUntilDeadline);

// A capsule of that name for what is below `folder`, with what is said of device capsules where nothing is said; nothing
// where a capsule takes that already. For services whose store should wait in one though no spec defines it.
// Errors: those of ClassificationRule::Parse and CapsuleStack::Create.
Status MakeDeviceCapsule(CapsuleStack& stack, const std::string& name, const std::string& folder);

// The call's value.
template <typename Call>
StatusOr<std::invoke_result_t<Call&>> RunOnDevice(CapsuleStack& stack, std::string_view path,
                                                  Call call, const VisitOptions& options = {},
                                                  DeviceWait wait = DeviceWait::kUntilDeadline) {
  using Value = std::invoke_result_t<Call&>;
  const auto value = std::make_shared<std::optional<Value>>();
  NEPTUNE_RETURN_IF_ERROR(RunTaskOnDevice(
      stack, path, [value, call = std::move(call)]() mutable { value->emplace(call()); }, options,
      wait));
  return **std::move(value);
}

}  // namespace neptune

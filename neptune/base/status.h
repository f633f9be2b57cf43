// The project's only error type: OK, or a code with a message for people.
//
// This is Abseil's Status, named only here so that it can be replaced in one place.
// Threads: immutable values.
// Errors: meaning of the codes - kInvalidArgument malformed input, never retried;
//   kResourceExhausted queue, capsule or class limit; kUnavailable no live replica, connect failed,
//   quality below the guarantee; kDeadlineExceeded; kAborted terminated early; kFailedPrecondition
//   write to a secondary; kCancelled; kDataLoss checksum or log damage; kNotFound; kInternal a
//   handler's own failure.
// Messages say what was being done and with which ids, in lower case, without a full stop.

#pragma once

#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "neptune/base/strings.h"

namespace neptune {

using Status = absl::Status;
using StatusCode = absl::StatusCode;
template <typename T>
using StatusOr = absl::StatusOr<T>;

inline Status OkStatus() { return absl::OkStatus(); }

// Each function makes a status with that code; its message is the concatenation of the arguments.
template <typename... Args>
Status InvalidArgument(const Args&... args) {
  return absl::InvalidArgumentError(StrCat(args...));
}
template <typename... Args>
Status ResourceExhausted(const Args&... args) {
  return absl::ResourceExhaustedError(StrCat(args...));
}
template <typename... Args>
Status Unavailable(const Args&... args) {
  return absl::UnavailableError(StrCat(args...));
}
template <typename... Args>
Status DeadlineExceeded(const Args&... args) {
  return absl::DeadlineExceededError(StrCat(args...));
}
template <typename... Args>
Status Aborted(const Args&... args) {
  return absl::AbortedError(StrCat(args...));
}
template <typename... Args>
Status FailedPrecondition(const Args&... args) {
  return absl::FailedPreconditionError(StrCat(args...));
}
template <typename... Args>
Status Cancelled(const Args&... args) {
  return absl::CancelledError(StrCat(args...));
}
template <typename... Args>
Status DataLoss(const Args&... args) {
  return absl::DataLossError(StrCat(args...));
}
template <typename... Args>
Status NotFound(const Args&... args) {
  return absl::NotFoundError(StrCat(args...));
}
template <typename... Args>
Status Unimplemented(const Args&... args) {
  return absl::UnimplementedError(StrCat(args...));
}
template <typename... Args>
Status Internal(const Args&... args) {
  return absl::InternalError(StrCat(args...));
}

// Prepends "context: " to the message and keeps the code; an OK status stays OK.
Status Annotate(const Status& status, std::string_view context);

namespace internal {
inline const Status& AsStatus(const Status& status) { return status; }
template <typename T>
const Status& AsStatus(const StatusOr<T>& result) {
  return result.status();
}
}  // namespace internal

}  // namespace neptune

#define NEPTUNE_STATUS_CONCAT_INNER(a, b) a##b
#define NEPTUNE_STATUS_CONCAT(a, b) NEPTUNE_STATUS_CONCAT_INNER(a, b)

#define NEPTUNE_RETURN_IF_ERROR(expression)                                      \
  do {                                                                           \
    if (auto neptune_status = (expression); !neptune_status.ok()) [[unlikely]] { \
      return ::neptune::internal::AsStatus(neptune_status);                      \
    }                                                                            \
  } while (false)

// NEPTUNE_ASSIGN_OR_RETURN(auto value, MakeValue()): declares or assigns, or returns the error.
#define NEPTUNE_ASSIGN_OR_RETURN(left, expression) \
  NEPTUNE_ASSIGN_OR_RETURN_IMPL(NEPTUNE_STATUS_CONCAT(neptune_result_, __LINE__), left, expression)
#define NEPTUNE_ASSIGN_OR_RETURN_IMPL(result, left, expression)                        \
  auto result = (expression);                                                          \
  if (!result.ok()) [[unlikely]] {                                                     \
    return result.status();                                                            \
  }                                                                                    \
  static_assert(!std::is_same_v<std::decay_t<decltype(*(result))>, ::neptune::Status>, \
                "StatusOr<Status> takes an error for a value");                        \
  left = std::move(result).value()

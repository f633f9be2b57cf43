// Numbers that stand for the names of requests on one connection.
//
//   caller                              server
//   SentNames ── number 0 and names ──► ReceivedNames     the first request with these names
//             ── number 0 ────────────►                   every later one
//
// A request names its service, its method and its service class; most requests of a connection name
// the same few. Each combination gets the next number when it is first sent. A caller numbers names
// only after its server has said that it understands numbers (kFeatureNameNumbers in frame.h), and
// spells the names of further combinations out once the table is full.
//
// No I/O, no clock.
// Threads: thread-compatible; one pair for each connection.
// Errors: kDataLoss a number that is not the next one, or that stands for other names; an unknown
//   number; more than the limits.
// Limits: kNameNumberCountMax numbers and kNameSizeMax bytes of names a connection.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/status.h"

namespace neptune {

inline constexpr size_t kNameNumberCountMax = 64;
inline constexpr size_t kNameSizeMax = 4 * 1024;

struct RequestNames {
  ServiceName service;
  MethodName method;
  std::string service_class;

  size_t size() const {
    return service.value().size() + method.value().size() + service_class.size();
  }
  friend bool operator==(const RequestNames&, const RequestNames&) = default;
};

// What the handler of requests keeps about the names of a number, so that it need not look for the
// method of each request. Written and read by the handler only; null: nothing yet.
struct HandlerNote {
  void* service = nullptr;
  const void* method = nullptr;
};

// The number of a request's names, and whether this request defines it.
struct NameNumber {
  uint16_t number = 0;
  bool is_new = false;
};

class SentNames {
 public:
  // The number of these names; a new one is defined by the request that they are for, which must be
  // sent. Nullopt: the table is full, and the names are spelled out.
  std::optional<NameNumber> NumberOf(const ServiceName& service, const MethodName& method,
                                     std::string_view service_class);

 private:
  std::vector<RequestNames> names_;  // by number
  size_t size_ = 0;                  // of all names
  size_t last_ = 0;                  // number of the latest request
};

class ReceivedNames {
 public:
  // Makes `number` stand for the names. A repeated definition has no effect.
  Status Define(uint16_t number, RequestNames names);
  // Null: unknown number. Valid until the next definition.
  const RequestNames* Find(uint16_t number) const {
    return number < names_.size() ? &names_[number].names : nullptr;
  }
  // The same for the handler's note about the names.
  HandlerNote* NoteOf(uint16_t number) {
    return number < names_.size() ? &names_[number].note : nullptr;
  }

 private:
  struct Known {
    RequestNames names;
    HandlerNote note;
  };
  std::vector<Known> names_;  // by number
  size_t size_ = 0;           // of all names
};

}  // namespace neptune

// Name resolution. The whole call runs on a helper thread, because inside it the C library opens
// files and sockets without calling the interposed functions.
//
// For rules it is a call on the device `/etc/resolv.conf`. If no capsule takes that, one named
// `names` is created. Without capsules the calling kernel thread resolves. Numeric addresses are
// not shipped.

#include <arpa/inet.h>
#include <glog/logging.h>
#include <netdb.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/capsule/device_call.h"
#include "neptune/interpose/blocking_call.h"
#include "neptune/interpose/call_permit.h"
#include "neptune/interpose/calls.h"
#include "neptune/interpose/resolved_names.h"

namespace neptune::interpose {
namespace {

constexpr char kResolver[] = "/etc/resolv.conf";

constexpr std::string_view kNamesCapsule = "names";

// The capsules, one of which takes name resolution; null: resolve on the calling thread.
CapsuleStack* CapsulesForNames() {
  CapsuleStack* const capsules = CapsulesInUse();
  if (capsules == nullptr || ParkingThread() == nullptr) return nullptr;
  if (capsules->Find(DeviceOperation{kResolver}) != nullptr) return capsules;
  CapsuleConfig config;
  config.name = kNamesCapsule;
  config.type = ResourceType::kDevice;
  config.rules = {ClassificationRule::Parse(StrCat("disk:", kResolver)).value()};
  const Status created = capsules->Create(config);  // fails if another thread was faster
  LOG_IF_EVERY_N(WARNING, !created.ok(), 1000)
      << "cannot create the capsule for name resolution: " << created;
  return capsules;
}

// A result of the C library with its errno and h_errno.
template <typename Value>
struct Answer {
  Value value;
  int error = 0;
  int host_error = 0;
};

// Runs `call` on helper threads. nullopt: it was refused or timed out. `call` must own what it
// uses.
template <typename Call>
std::optional<std::invoke_result_t<Call&>> Ship(Call call) {
  using Value = std::invoke_result_t<Call&>;
  CapsuleStack* const capsules = CapsulesForNames();
  if (capsules == nullptr) return call();
  const OutsideMainPool outside;
  auto answer = RunOnDevice(*capsules, kResolver, [call = std::move(call)]() mutable {
    Answer<Value> made{call()};
    made.error = errno;
    made.host_error = h_errno;
    return made;
  });
  if (!answer.ok()) return std::nullopt;
  errno = answer->error;
  h_errno = answer->host_error;
  return std::move(answer->value);
}

struct FreeAddresses {
  void operator()(addrinfo* addresses) const { freeaddrinfo(addresses); }
};
struct Addresses {
  int result = EAI_AGAIN;
  std::unique_ptr<addrinfo, FreeAddresses> list;
};

std::optional<std::string> Copy(const char* text) {
  return text == nullptr ? std::nullopt : std::optional<std::string>(text);
}
const char* Pointer(const std::optional<std::string>& text) {
  return text.has_value() ? text->c_str() : nullptr;
}

bool IsInDigits(const char* host) {
  in6_addr address;
  return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1;
}

bool NeedsNoResolver(const char* host, const addrinfo* hints) {
  const int flags = hints == nullptr ? 0 : hints->ai_flags;
  return host == nullptr || (flags & AI_NUMERICHOST) != 0 || IsInDigits(host);
}

int GetAddresses(const char* host, const char* service, const addrinfo* hints, addrinfo** list) {
  const std::optional<addrinfo> hints_copy =
      hints == nullptr ? std::nullopt : std::optional<addrinfo>(*hints);
  const auto answer = Ship([host = Copy(host), service = Copy(service), hints_copy] {
    auto made = std::make_shared<Addresses>();
    addrinfo* found = nullptr;
    made->result = RealLibc().getaddrinfo(Pointer(host), Pointer(service),
                                          hints_copy.has_value() ? &*hints_copy : nullptr, &found);
    if (made->result == 0) made->list.reset(found);
    return made;
  });
  if (!answer.has_value()) return EAI_AGAIN;
  Addresses& addresses = **answer;
  if (addresses.result != 0) return addresses.result;
  ResolvedNames::Note(host, addresses.list.get());
  *list = addresses.list.release();
  return 0;
}

struct NameInfo {
  int result = EAI_AGAIN;
  std::vector<char> host;
  std::vector<char> service;
};

int GetName(const sockaddr* address, socklen_t address_size, char* host, socklen_t host_size,
            char* service, socklen_t service_size, int flags) {
  sockaddr_storage copy{};
  std::memcpy(&copy, address, std::min<size_t>(address_size, sizeof(copy)));
  auto answer = Ship([=] {
    NameInfo made{0, std::vector<char>(host_size + 1), std::vector<char>(service_size + 1)};
    made.result = RealLibc().getnameinfo(reinterpret_cast<const sockaddr*>(&copy), address_size,
                                         host == nullptr ? nullptr : made.host.data(), host_size,
                                         service == nullptr ? nullptr : made.service.data(),
                                         service_size, flags);
    return made;
  });
  if (!answer.has_value()) return EAI_AGAIN;
  if (host != nullptr) std::memcpy(host, answer->host.data(), host_size);
  if (service != nullptr) std::memcpy(service, answer->service.data(), service_size);
  return answer->result;
}

// Reports a temporary failure in the form of the gethostby* calls.
hostent* OrTryAgain(const std::optional<hostent*>& answer) {
  if (answer.has_value()) return *answer;
  h_errno = TRY_AGAIN;
  return nullptr;
}

// The calls that write to the caller's memory; the caller therefore waits for their end.
template <typename Call>
int ShipToEnd(int* host_error, Call call) {
  CapsuleStack* const capsules = CapsulesForNames();
  if (capsules == nullptr) return call();
  const OutsideMainPool outside;
  const auto result = RunOnDevice(*capsules, kResolver, call, {}, DeviceWait::kForEnd);
  if (result.ok()) return *result;
  *host_error = TRY_AGAIN;
  return EAGAIN;
}

}  // namespace
}  // namespace neptune::interpose

using neptune::interpose::OrTryAgain;
using neptune::interpose::RealLibc;
using neptune::interpose::Ship;
using neptune::interpose::ShipToEnd;

int neptune_getaddrinfo(const char* host, const char* service, const addrinfo* hints,
                        addrinfo** list) {
  if (neptune::interpose::NeedsNoResolver(host, hints)) {
    return RealLibc().getaddrinfo(host, service, hints, list);
  }
  return neptune::interpose::GetAddresses(host, service, hints, list);
}

int neptune_getnameinfo(const sockaddr* address, socklen_t address_size, char* host,
                        socklen_t host_size, char* service, socklen_t service_size, int flags) {
  if (host == nullptr || (flags & NI_NUMERICHOST) != 0 || address == nullptr) {
    return RealLibc().getnameinfo(address, address_size, host, host_size, service, service_size,
                                  flags);
  }
  return neptune::interpose::GetName(address, address_size, host, host_size, service, service_size,
                                     flags);
}

// The result is one object for the whole process, as in the C library.
hostent* neptune_gethostbyname(const char* name) {
  return OrTryAgain(
      Ship([name = std::string(name)] { return RealLibc().gethostbyname(name.c_str()); }));
}

hostent* neptune_gethostbyname2(const char* name, int family) {
  return OrTryAgain(Ship([name = std::string(name), family] {
    return RealLibc().gethostbyname2(name.c_str(), family);
  }));
}

hostent* neptune_gethostbyaddr(const void* address, socklen_t size, int family) {
  return OrTryAgain(Ship([copy = std::string(static_cast<const char*>(address), size), family] {
    return RealLibc().gethostbyaddr(copy.data(), static_cast<socklen_t>(copy.size()), family);
  }));
}

int neptune_gethostbyname_r(const char* name, hostent* entry, char* buffer, size_t size,
                            hostent** result, int* host_error) {
  return ShipToEnd(host_error, [=] {
    return RealLibc().gethostbyname_r(name, entry, buffer, size, result, host_error);
  });
}

int neptune_gethostbyname2_r(const char* name, int family, hostent* entry, char* buffer,
                             size_t size, hostent** result, int* host_error) {
  return ShipToEnd(host_error, [=] {
    return RealLibc().gethostbyname2_r(name, family, entry, buffer, size, result, host_error);
  });
}

int neptune_gethostbyaddr_r(const void* address, socklen_t address_size, int family, hostent* entry,
                            char* buffer, size_t size, hostent** result, int* host_error) {
  return ShipToEnd(host_error, [=] {
    return RealLibc().gethostbyaddr_r(address, address_size, family, entry, buffer, size, result,
                                      host_error);
  });
}

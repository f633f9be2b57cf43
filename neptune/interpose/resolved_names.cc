#include "neptune/interpose/resolved_names.h"

#include <netinet/in.h>

#include <deque>
#include <unordered_map>

#include "neptune/base/leaf_mutex.h"

namespace neptune::interpose {
namespace {

// Never destroyed, because calls are made until the process ends.
struct Names {
  LeafMutex mutex;
  std::unordered_map<std::string, std::string> by_address ABSL_GUARDED_BY(mutex);
  std::deque<std::string> in_order ABSL_GUARDED_BY(mutex);
};
Names& AllNames() {
  static Names* const names = new Names;
  return *names;
}

// The bytes of the address without its port; empty: a family without names.
std::string BytesOf(const sockaddr* address, socklen_t size) {
  if (address == nullptr) return {};
  if (address->sa_family == AF_INET && size >= sizeof(sockaddr_in)) {
    const in_addr& bytes = reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
    return std::string(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
  }
  if (address->sa_family == AF_INET6 && size >= sizeof(sockaddr_in6)) {
    const in6_addr& bytes = reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
    return std::string(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
  }
  return {};
}

}  // namespace

void ResolvedNames::Note(const char* name, const addrinfo* addresses) {
  Names& names = AllNames();
  LeafLock lock(&names.mutex);
  for (; addresses != nullptr; addresses = addresses->ai_next) {
    const std::string bytes = BytesOf(addresses->ai_addr, addresses->ai_addrlen);
    if (bytes.empty()) continue;
    if (!names.by_address.insert_or_assign(bytes, name).second) continue;
    names.in_order.push_back(bytes);
    if (names.in_order.size() <= kResolvedNameCountMax) continue;
    names.by_address.erase(names.in_order.front());
    names.in_order.pop_front();
  }
}

std::string ResolvedNames::Of(const sockaddr* address, socklen_t size) {
  const std::string bytes = BytesOf(address, size);
  Names& names = AllNames();
  LeafLock lock(&names.mutex);
  const auto found = names.by_address.find(bytes);
  return found == names.by_address.end() ? std::string() : found->second;
}

}  // namespace neptune::interpose

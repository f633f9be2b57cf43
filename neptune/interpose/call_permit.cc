#include "neptune/interpose/call_permit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "neptune/interpose/resolved_names.h"
#include "neptune/world/loop.h"
#include "neptune/world/network.h"

namespace neptune::interpose {
namespace {

std::atomic<CapsuleStack*> capsules_in_use{nullptr};

// An IPv4-mapped IPv6 address counts as IPv4.
uint32_t MappedAddress(const in6_addr& address) {
  if (!IN6_IS_ADDR_V4MAPPED(&address)) return 0;
  uint32_t mapped = 0;
  std::memcpy(&mapped, address.s6_addr + 12, sizeof(mapped));
  return ntohl(mapped);
}

}  // namespace

void UseCapsules(CapsuleStack* capsules) {
  capsules_in_use.store(capsules, std::memory_order_release);
}

CapsuleStack* CapsulesInUse() { return capsules_in_use.load(std::memory_order_acquire); }

BlockingOperation Dependency::Operation() const {
  if (!path.empty()) return DeviceOperation{path};
  return NetworkOperation{.address = address, .port = port, .host = host};
}

std::shared_ptr<const Dependency> DependencyOn(const sockaddr* address, socklen_t size) {
  auto dependency = std::make_shared<Dependency>();
  if (address != nullptr && size >= sizeof(sockaddr_in) && address->sa_family == AF_INET) {
    const auto* const peer = reinterpret_cast<const sockaddr_in*>(address);
    dependency->address = ntohl(peer->sin_addr.s_addr);
    dependency->port = ntohs(peer->sin_port);
  } else if (address != nullptr && size >= sizeof(sockaddr_in6) && address->sa_family == AF_INET6) {
    const auto* const peer = reinterpret_cast<const sockaddr_in6*>(address);
    dependency->address = MappedAddress(peer->sin6_addr);
    dependency->port = ntohs(peer->sin6_port);
  }
  dependency->host = ResolvedNames::Of(address, size);
  return dependency;
}

namespace {

// The only IPv4 peer in the capsule's rules, e.g. "inet:127.0.0.1:6379"; null: none, or several.
std::shared_ptr<const Dependency> OnlyPeer(const CapsuleConfig& config) {
  constexpr std::string_view kPeers = "inet:";
  if (config.rules.size() != 1 || config.rules[0].text().rfind(kPeers, 0) != 0) return nullptr;
  const StatusOr<Endpoint> peer = Endpoint::Parse(config.rules[0].text().substr(kPeers.size()));
  if (!peer.ok()) return nullptr;
  auto dependency = std::make_shared<Dependency>();
  dependency->address = peer->address;
  dependency->port = peer->port;
  return dependency;
}

}  // namespace

std::shared_ptr<const Dependency> ChoosePeer(std::shared_ptr<const Dependency> wanted) {
  CapsuleStack* const capsules = CapsulesInUse();
  if (capsules == nullptr) return wanted;
  std::shared_ptr<const Dependency> peer = std::move(wanted);
  std::shared_ptr<Capsule> capsule = capsules->Find(peer->Operation());
  for (int hop = 0; capsule != nullptr && hop <= kMigrationCountMax; ++hop) {
    if (peer != nullptr && capsule->WouldAdmit(Loop::Current()->Now())) return peer;
    const std::string next = capsule->config().migrate_to;
    capsule = next.empty() ? nullptr : capsules->Named(next);
    peer = capsule == nullptr ? nullptr : OnlyPeer(capsule->config());
    if (capsule == nullptr) break;
  }
  errno = ECONNREFUSED;
  return nullptr;
}

CallPermit::~CallPermit() {
  if (!visit_.has_value()) return;
  const int error = errno;
  visit_->Leave(outcome_);
  outside_.reset();
  errno = error;
}

bool CallPermit::Enter(const Dependency* dependency, uint64_t caller, TimePoint* deadline) {
  CapsuleStack* const capsules = CapsulesInUse();
  if (visit_.has_value() || capsules == nullptr || dependency == nullptr) return true;
  visit_.emplace();
  outside_.emplace();
  // A connected call can wait only for its own peer, so it must not migrate.
  const Status status =
      visit_->Enter(*capsules, dependency->Operation(),
                    {.deadline = *deadline, .caller = caller, .may_migrate = false});
  if (status.ok()) {
    *deadline = visit_->deadline();
    return true;
  }
  errno = status.code() == StatusCode::kDeadlineExceeded
              ? TimeOut(EAGAIN)
              : ErrnoOf(status, !dependency->path.empty());
  return false;
}

int CallPermit::TimeOut(int own) {
  outcome_ = CapsuleOutcome::kTimedOut;
  return visit_.has_value() && visit_->limited_by_capsule() ? ETIMEDOUT : own;
}

int ErrnoOf(const Status& status, bool on_file) {
  switch (status.code()) {
    case StatusCode::kDeadlineExceeded:
      return ETIMEDOUT;
    case StatusCode::kCancelled:
      return ECANCELED;
    default:
      return on_file ? EAGAIN : ECONNREFUSED;
  }
}

}  // namespace neptune::interpose

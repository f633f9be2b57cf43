// Classification rules: which operations a dependency capsule takes.
//
//   inet:192.168.1.0/24        peers of that network     inet:192.168.1.0/24:6379  at that port
//   inet:10.0.0.7:5432         one peer, one port        inet:*:6379               port of any peer
//   inet:db.example.org        host by name, any port    inet:db.example.org:5432  at that port
//   service:index              all its partitions        service:index/3           one partition
//   service:index/3@store-1    its replica on that node  service:index@store-1     all on that node
//   disk:/dev/sd[ab]           files by pattern: * ? [..] within a name
//   disk:/var/lib/store/**     ** across any number of folders
//
// A host name matches the name that the caller resolved (NetworkOperation::host); rules resolve
// nothing. Services are virtual names that the runtime knows at the time of the call.
//
// Source: [Chu05] IV.B (types and rules), IV.D (`destination = inet:192.168.1.0/24`).
// Departs from source: rules for services, partitions and replicas; `**`.
// No I/O, no clock.
// Threads: immutable values.
// Errors: kInvalidArgument with the wrong part.
// Limits: kRuleSizeMax bytes per rule.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "neptune/base/ids.h"
#include "neptune/base/status.h"

namespace neptune {

inline constexpr size_t kRuleSizeMax = 4096;

enum class ResourceType { kNetwork, kDevice };

// The peer that a blocking operation is about to use.
struct NetworkOperation {
  uint32_t address = 0;  // host byte order; 0: not known yet
  uint16_t port = 0;
  // Set by the runtime's own calls.
  std::string_view service{};
  std::optional<PartitionId> partition{};
  std::string_view node{};
  // Name that the address was resolved from, if known.
  std::string_view host{};
};
struct DeviceOperation {
  std::string_view path;  // absolute
};
using BlockingOperation = std::variant<NetworkOperation, DeviceOperation>;

// An address in host byte order, and a port.
struct PeerAddress {
  uint32_t address = 0;
  uint16_t port = 0;
  friend bool operator==(const PeerAddress&, const PeerAddress&) = default;
};

ResourceType TypeOf(const BlockingOperation& operation);

class ClassificationRule {
 public:
  static StatusOr<ClassificationRule> Parse(std::string_view text);

  ResourceType type() const;
  bool Matches(const BlockingOperation& operation) const;
  // True if this rule takes every operation that `other` takes, so that `other` never matches below
  // it in a stack. False if unsure.
  bool Covers(const ClassificationRule& other) const;
  // True if some operation matches both rules. False if unsure: a name and an address may be the
  // same host.
  bool Overlaps(const ClassificationRule& other) const;
  // The peer, if the rule names one address and one port.
  std::optional<PeerAddress> peer() const;
  const std::string& text() const { return text_; }

 private:
  struct Peers {  // by address
    uint32_t address = 0;
    uint32_t mask = 0;
    std::optional<uint16_t> port;
  };
  struct Host {  // by name
    std::string name;
    std::optional<uint16_t> port;
  };
  struct Service {
    std::string name;
    std::optional<PartitionId> partition;
    std::string node;  // empty: any
  };
  struct Path {
    std::string pattern;
  };
  using Rule = std::variant<Peers, Host, Service, Path>;

  ClassificationRule(std::string text, Rule rule)
      : text_(std::move(text)), rule_(std::move(rule)) {}
  static StatusOr<Rule> ParseInet(std::string_view text);
  static StatusOr<Rule> ParseService(std::string_view text);
  static StatusOr<Rule> ParseDisk(std::string_view text);

  std::string text_;
  Rule rule_;
};

// True if the whole path matches the pattern: * and ? and [abc], [a-z], [!a] within one name, **
// across folders. O(pattern * path). A malformed pattern matches nothing; Parse refuses it.
bool PathMatches(std::string_view pattern, std::string_view path);
// True if some path matches both patterns. O(first * second).
bool PatternsMeet(std::string_view first, std::string_view second);

}  // namespace neptune

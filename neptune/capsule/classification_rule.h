// Classification rules: which operations a dependency capsule takes.
//
//   inet:192.168.1.0/24           peers of that network          inet:192.168.1.0/24:6379    at that port
//   inet:10.0.0.7:5432            one peer, one port             inet:*:6379                 a port of any peer
//   inet:db.example.org           a host by name, any port       inet:db.example.org:5432
//   service:index                 every partition of a service   service:index/3             one of them
//   service:index/3@store-1       its replica on that node       service:index@store-1       all on that node
//   disk:/dev/sd[ab]              files by pattern: * ? [..] within a name
//   disk:/var/lib/store/**        ** over any number of folders
//
// Names of hosts are resolved by whoever builds the table, and given as addresses; services are virtual names that
// the runtime knows at the time of the call.
//
// Source: [Chu05] IV.B (types and rules), IV.D (`destination = inet:192.168.1.0/24`).
// Departs from source: services, partitions and replicas as peers of their own; `**`.
// No I/O, no clock.
// Threads: immutable values.
// Errors: kInvalidArgument with the part that is wrong.
// Limits: kRuleSizeMax bytes a rule.

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

// What a blocking operation is about to use.
struct NetworkOperation {
  uint32_t address = 0;  // host byte order; 0: not known yet
  uint16_t port = 0;
  // Set for the runtime's own calls.
  std::string_view service{};
  std::optional<PartitionId> partition{};
  std::string_view node{};
  // Name that the address was resolved from, if that is known.
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
  // Whether every operation that `other` takes is taken by this one too: on top of it in a stack, `other` never gets
  // any. False in doubt.
  bool Covers(const ClassificationRule& other) const;
  // Whether some operation is taken by both. False in doubt: a name and an address may be the same host.
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

// Whether the whole path fits the pattern: * and ? and [abc], [a-z], [!a] within one name, ** across folders.
// O(pattern * path). A malformed pattern fits nothing; Parse refuses it.
bool PathMatches(std::string_view pattern, std::string_view path);
// Whether some path fits both patterns. O(first * second).
bool PatternsMeet(std::string_view first, std::string_view second);

}  // namespace neptune

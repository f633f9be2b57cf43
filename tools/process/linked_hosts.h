// Hosts of this machine, each a network namespace with one interface at a switch, whose links can really be taken down.
//
//   host 0  10.77.0.1 ──┐
//   host 1  10.77.0.2 ──┤ switch: a bridge, in a namespace of its own
//   host 2  10.77.0.3 ──┘   └ SetLink(2, false): what is sent there arrives nowhere, and nobody is told
//
// The namespaces have no names. The kernel removes them, with all that is in them, when the last descriptor of them is
// closed and the last thread in them has ended: whatever becomes of this program nothing remains, and any number of runs
// may be at once.
//
// Threads: Make and RunIn on any plain kernel thread, which waits; SetLink anywhere, it does not wait.
// Errors: kUnavailable namespaces are not permitted here, or the program `ip` is not installed or refuses.
// Limits: kLinkedHostCountMax hosts.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "neptune/base/status.h"

namespace search::lab {

inline constexpr size_t kLinkedHostCountMax = 100;

class LinkedHosts {
 public:
  static neptune::StatusOr<std::unique_ptr<LinkedHosts>> Make(size_t count);
  ~LinkedHosts();
  LinkedHosts(const LinkedHosts&) = delete;
  LinkedHosts& operator=(const LinkedHosts&) = delete;

  uint32_t address(size_t host) const;
  // Runs it on a thread in that host, and waits. Sockets that it makes are there, and so are threads that it starts.
  void RunIn(size_t host, const std::function<void()>& body) const;
  // Of the host's namespace, for setns(2); valid as long as this.
  int descriptor(size_t host) const { return hosts_.at(host); }
  // The switch's end of the host's link.
  neptune::Status SetLink(size_t host, bool is_up) const;

 private:
  explicit LinkedHosts(size_t count) : hosts_(count, -1) {}
  neptune::Status MakeNamespaces();
  neptune::Status Connect() const;

  int switch_ = -1;  // descriptors of namespaces
  std::vector<int> hosts_;
  int switch_control_ = -1;  // a socket in the switch's
};

}  // namespace search::lab

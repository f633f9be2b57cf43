// Emulated hosts on this machine: each is a network namespace with one interface at a switch, whose
// link can be taken down.
//
//   host 0  10.77.0.1 ──┐
//   host 1  10.77.0.2 ──┤ switch: a bridge, in a namespace of its own
//   host 2  10.77.0.3 ──┘   └ SetLink(2, false): packets are dropped without an error
//
// The namespaces have no names. The kernel removes them and their contents when their last
// descriptor is closed and their last thread has ended, so nothing remains even if this program
// crashes, and several runs may coexist.
//
// Threads: Make and RunIn block, and may be called on any plain kernel thread; SetLink on any
//   thread, it does not block.
// Errors: kUnavailable namespaces are not permitted, or the program `ip` is not installed or fails.
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
  // Runs `body` on a thread in that host, and waits. Its sockets and threads belong to that host.
  void RunIn(size_t host, const std::function<void()>& body) const;
  // Descriptor of the host's namespace, for setns(2); valid while this object lives.
  int descriptor(size_t host) const { return hosts_.at(host); }
  // Sets the switch's end of the host's link up or down.
  neptune::Status SetLink(size_t host, bool is_up) const;

 private:
  explicit LinkedHosts(size_t count) : hosts_(count, -1) {}
  neptune::Status MakeNamespaces();
  neptune::Status Connect() const;

  int switch_ = -1;  // descriptors of namespaces
  std::vector<int> hosts_;
  int switch_control_ = -1;  // a socket in the switch's namespace
};

}  // namespace search::lab

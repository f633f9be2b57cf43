// The real world: kernel threads, the operating system's sockets and clock.
//
//   World ── StartLoop ──> kernel thread ── its own poller (one epoll instance each)
//                             ├─ tasks posted from this thread: a plain queue, no lock
//                             ├─ tasks posted from others: a locked queue; a waiting loop is woken
//                             ├─ timers: a queue; the next one bounds the wait for events
//                             └─ streams: read when readable, written once a turn
//
// A loop, its connections and its threads share one kernel thread; a poller shared by several
// threads is several times slower.
// A world raises the process's soft limit of open descriptors to the hard one.
// How a loop waits for events is known in this folder only.
// Threads: see World.
// Errors: StartLoop: kResourceExhausted at the limit of loops or threads.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "neptune/world/storage.h"
#include "neptune/world/world.h"

namespace neptune {

struct RealWorldOptions {
  // Directory of durable storage; empty: storage() may not be used.
  std::string storage_directory;
  // Seed of the loops' random numbers; 0: taken from the operating system.
  uint64_t seed = 0;
  // Number of virtual processors whose time Execute uses instead of the machine's; see
  // emulated_processors.h. 0: Execute uses real processor time.
  int emulated_processor_count = 0;
};

std::unique_ptr<World> MakeRealWorld(const RealWorldOptions& options);

// Uses `storage` and ignores options.storage_directory; null: storage() may not be used. A separate
// target, real_world_over, provides it for programs that should not link RocksDB.
std::unique_ptr<World> MakeRealWorldOver(const RealWorldOptions& options,
                                         std::unique_ptr<DurableStorage> storage);

}  // namespace neptune

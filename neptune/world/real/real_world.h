// The real world: kernel threads, the operating system's sockets and clock.
//
//   World ── StartLoop ──> kernel thread ── its own poller (one io_context each)
//                             ├─ tasks posted from this thread: a plain queue, no lock
//                             ├─ tasks posted from others: through the poller
//                             ├─ timers: a heap over one operating-system timer
//                             └─ streams: read when readable, written once a turn
//
// thread; a
//   poller shared by several threads is several times slower).
// Boost.Asio appears nowhere outside this folder.
// Threads: as World says.
// Errors: StartLoop: kResourceExhausted at the limit of loops or threads.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "neptune/world/storage.h"
#include "neptune/world/world.h"

namespace neptune {

struct RealWorldOptions {
  // Folder of durable storage; empty: storage() may not be used.
  std::string storage_directory;
  // Seed of the loops' random numbers; 0 takes one from the operating system.
  uint64_t seed = 0;
  // Processor time is taken on so many virtual processors in place of the machine's; see emulated_processors.h. 0: it
  // is really used.
  int emulated_processor_count = 0;
};

std::unique_ptr<World> MakeRealWorld(const RealWorldOptions& options);

// Over that storage, whatever options.storage_directory says; null: storage() may not be used. It is a target of its own,
// real_world_over, for those that are not to carry RocksDB.
std::unique_ptr<World> MakeRealWorldOver(const RealWorldOptions& options,
                                         std::unique_ptr<DurableStorage> storage);

}  // namespace neptune

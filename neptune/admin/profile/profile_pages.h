// Admin pages with profiles of the whole process.
//
//   /profile/cpu   ?seconds=1..30, default 10; ?format=pprof (gzipped Protobuf) or folded (text)
//   /profile/heap  the same for memory allocated with operator new meanwhile and held at the end
//   /profile/heap/totals  memory of the C library's allocator as JSON: bytes in use, free, mapped
//
// The pages change nothing, so clients on the node's machine need no token (admin_access.h). A
// helper thread looks up the names of functions; the admin server answers other requests meanwhile.
//
// Real world only, because they measure its processor time and memory: the node program adds them,
// and simulated nodes do not have them.
// Threads: handlers run on the admin loop's user-level threads.
// Errors: 400 an invalid parameter; 409 a profile of the same kind is being taken; 501 the program
//   has no hooks; 503 the node is stopping.
// Limits: one profile of each kind at a time, kProfileSecondsMax; those of ProcessorSampler and
//   AllocationSampler.

#pragma once

#include <memory>
#include <string>

#include "neptune/admin/admin_server.h"
#include "neptune/world/helper_threads.h"
#include "neptune/world/world.h"

namespace neptune {

inline constexpr int kProfileSecondsMax = 30;

class ProfilePages {
 public:
  // `world` must outlive the object. `node` is the node's name in profiles.
  ProfilePages(World& world, std::string node);
  // REQUIRES: the server they were added to has stopped.
  ~ProfilePages();

  void AddTo(AdminServer& admin);

 private:
  template <typename Sampler>
  HttpResponse Take(const HttpRequest& request, const std::string& kind);
  HttpResponse HeapTotals() const;

  World& world_;
  const std::string node_;
  const std::unique_ptr<HelperThreads> helper_;
};

}  // namespace neptune

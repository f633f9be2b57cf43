// Profiles of the whole process over the administration's port.
//
//   /profile/cpu   ?seconds=1..30, 10 if not said; ?format=pprof (gzipped Protobuf) or folded (text)
//   /profile/heap  the same of what is allocated with operator new meanwhile, and what of it is held at the end
//   /profile/heap/totals  what the C library's allocator holds, as JSON: bytes in use, free, mapped
//
// They show and change nothing, so they need no token. A profile's names are looked up by a helper thread: the
// administration answers meanwhile.
//
// The real world only, whose processor time and memory they tell of: the node program adds
//   them, nodes of the simulated world do not have them.
// Threads: handlers on the admin loop's user-level threads.
// Errors: 400 a parameter; 409 one of its kind is being taken; 501 the program has no hooks; 503 the node stops.
// Limits: one profile of each kind at a time, kProfileSecondsMax; those of ProcessorSampler and AllocationSampler.

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
  // `world` outlives it. `node`: as profiles name it.
  ProfilePages(World& world, std::string node);
  // REQUIRES: the server to which they were added has stopped.
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

#include "frontend/search_plan/cache_lookup.h"

#include "neptune/thread/user_thread.h"

namespace search::frontend {

std::shared_ptr<CacheLookup> CacheLookup::Start(const Tools& tools,
                                                const neptune::ClientSession& session,
                                                const CacheEntryName& entry,
                                                neptune::TimePoint until) {
  std::shared_ptr<CacheLookup> lookup(new CacheLookup(session));
  lookup->reply_.use.outcome = CacheUse::Outcome::kFailed;
  ++*tools.running_count;
  const auto started = neptune::ThreadScheduler::Current()->Spawn(
      [lookup, tools, session, entry, until] {
        const neptune::TimePoint begin = neptune::this_thread::Now();
        neptune::ClientSession own = session;
        CacheClient cache = tools.cache;
        lookup->reply_ = cache.Lookup(own, entry, until);
        tools.time->Record(neptune::this_thread::Now() - begin);
        lookup->done_.Set();
        if (lookup->is_hit()) lookup->search_.Cancel();
        --*tools.running_count;
      },
      "cache lookup");
  if (!started.ok()) {
    --*tools.running_count;
    lookup->done_.Set();
  }
  return lookup;
}

}  // namespace search::frontend

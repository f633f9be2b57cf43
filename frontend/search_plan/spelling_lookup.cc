#include "frontend/search_plan/spelling_lookup.h"

#include <utility>

#include "neptune/thread/user_thread.h"

namespace search::frontend {

std::shared_ptr<SpellingLookup> SpellingLookup::Start(const SpellingTools& tools,
                                                      const neptune::ClientSession& session,
                                                      SpellOrder order) {
  std::shared_ptr<SpellingLookup> lookup(new SpellingLookup(order.deadline));
  ++*tools.running_count;
  const auto started = neptune::ThreadScheduler::Current()->Spawn(
      [lookup, tools, session, order = std::move(order)] {
        const neptune::TimePoint begin = neptune::this_thread::Now();
        lookup->result_ = tools.suggester->Spell(session, order);
        tools.time->Record(neptune::this_thread::Now() - begin);
        lookup->done_.Set();
        --*tools.running_count;
      },
      "spelling");
  if (!started.ok()) {
    --*tools.running_count;
    lookup->done_.Set();
  }
  return lookup;
}

SpellingResult SpellingLookup::Await() {
  (void)done_.Wait(deadline_);
  return done_.is_set() ? result_ : SpellingResult{.best = std::nullopt, .is_complete = false};
}

}  // namespace search::frontend

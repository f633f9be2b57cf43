#include "neptune/service/open_streams.h"

#include <utility>

#include "neptune/base/strings.h"
#include "neptune/service/method_table.h"
#include "neptune/service/worker_queue.h"

namespace neptune {

void OpenStreams::Begin(TakenRequest&& taken) {
  if (count_.fetch_add(1) >= count_max_) {
    --count_;
    return runner_.Refuse(std::move(taken),
                          ResourceExhausted(count_max_, " streams of ", service_, " are open"));
  }
  load_.Begin();
  const bool is_short = taken.method->options.grain == Grain::kShort;
  auto serve = [this, taken = std::move(taken)](NodeLoop& home) mutable {
    TakenRequest* const source = &taken;
    const auto started = home.scheduler->RunInPlace([this, source] {
      runner_.ServeStream(std::move(*source));
      --count_;
    });
    if (started.ok()) return;
    --count_;
    load_.End();
    runner_.Refuse(std::move(taken), started.status());
  };
  if (!is_short) return loops_.worker_queue().Post(std::move(serve));
  NodeLoop& home = loops_.Current();
  home.loop->Post([&home, serve = std::move(serve)]() mutable { serve(home); });
}

}  // namespace neptune

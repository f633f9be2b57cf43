#include "neptune/service/open_streams.h"

#include <utility>

#include "neptune/base/strings.h"
#include "neptune/service/method_table.h"

namespace neptune {

void OpenStreams::Begin(TakenRequest&& taken) {
  if (count_.fetch_add(1) >= count_max_) {
    --count_;
    return runner_.Refuse(std::move(taken),
                          ResourceExhausted(count_max_, " streams of ", service_, " are open"));
  }
  load_.Begin();
  const std::vector<NodeLoop*>& workers = loops_.workers();
  NodeLoop& home = taken.method->options.grain == Grain::kShort
                       ? loops_.Current()
                       : *workers[next_worker_.fetch_add(1) % workers.size()];
  home.loop->Post([this, &home, taken = std::move(taken)]() mutable {
    TakenRequest* const source = &taken;
    const auto started = home.scheduler->RunInPlace([this, source] {
      runner_.ServeStream(std::move(*source));
      --count_;
    });
    if (started.ok()) return;
    --count_;
    load_.End();
    runner_.Refuse(std::move(taken), started.status());
  });
}

}  // namespace neptune

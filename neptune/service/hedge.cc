#include "neptune/service/hedge.h"

#include <utility>

#include "neptune/service/call_in_progress.h"

namespace neptune {

std::unique_ptr<Hedge> Hedge::Start(const ClientSession& session, const RequestHeader& header,
                                    const Data& request, TimePoint deadline,
                                    const std::vector<NodeId>& except) {
  auto shared = std::make_shared<Shared>();
  shared->caller = ThreadRef(UserThread::Current());
  CallOptions options;
  options.deadline = deadline;
  options.attempts_max = 1;
  options.except = except;
  const auto started = ThreadScheduler::Current()->Spawn(
      [shared, session = session.ForHedge(shared->until), header = RequestHeader(header), request,
       options]() mutable {
        CallInProgress call(session, header, request, options, &shared->report);
        shared->status = call.Run(&shared->response);
        shared->ended = true;
        shared->caller->Wake();
      },
      "hedge");
  if (!started.ok()) return nullptr;
  return std::unique_ptr<Hedge>(new Hedge(std::move(shared)));
}

Hedge::~Hedge() {
  if (!shared_->ended) shared_->until->Cancel();
}

}  // namespace neptune

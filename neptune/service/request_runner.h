// Runs the method of a request and answers it.
//
//   TakenRequest ─► context ─► method, under the time limit if there is one ─► statistics ─► answer
//
// For a batch of partitions (partition_batch.h) the method runs once for each; the request counts
// as one.
//
// Source: [Shen02] 2.2 (request dispatcher); [Zhou06] (requests ended early).
// Threads: Refuse on any loop; ServeHere in an event handler; the rest on a user-level thread.
// Errors: as answers: kCancelled the caller is gone; kDeadlineExceeded the deadline passed before
//   the request ran, or it was ended early without a result; kInternal the method threw.

#pragma once

#include <string>
#include <utility>

#include "neptune/service/data.h"
#include "neptune/service/node_loops.h"
#include "neptune/service/pool_queue.h"
#include "neptune/service/request_statistics.h"
#include "neptune/service/service_load.h"
#include "neptune/service/taken_request.h"

namespace neptune {

class RequestRunner {
 public:
  // Parts of the host; they outlive the runner.
  struct Parts {
    NodeLoops& loops;
    ServiceLoad& load;
    RequestStatistics& statistics;
    // Consumption is reported to it.
    PoolQueue& queue;
    // Null: requests are not ended early.
    TimeLimit* limit = nullptr;
    // The scheduling policy of the queue uses consumption.
    bool reports_consumption = true;
  };
  RequestRunner(ServiceName service, const Parts& parts)
      : service_(std::move(service)), parts_(parts) {}

  // Answers with `status` without running the method, which may be null.
  void Refuse(TakenRequest&& taken, const Status& status);
  // Serves a short request; returns the end time of its method. `begin` may be an earlier time at
  // which the loop became free.
  TimePoint ServeShort(const ServedRequest& served, TimePoint begin) {
    return Serve(served, begin, {Where::kOnThread});
  }
  // The same for a method that never parks, without a user-level thread. The request does not count
  // in the load, since it ends at once. Its payload's buffer stays with it; the answer is made in
  // `*room`, which has its buffer again afterwards if the answer was only copied.
  TimePoint ServeHere(const ServedRequest& served, TimePoint begin, std::string* room);
  // Serves a request of the pool, under the time limit if there is one and the method may be ended
  // early.
  void ServeLong(TakenRequest taken);
  // Serves a stream until its method returns.
  void ServeStream(TakenRequest taken);

 private:
  enum class Where { kInHandler, kOnThread, kInPool };
  struct Manner {
    Where where = Where::kInPool;
    const LimitedRequest* limited = nullptr;
  };
  TimePoint Serve(const ServedRequest& served, TimePoint begin, const Manner& manner);
  TimePoint ServeLimited(const ServedRequest& served, TimePoint begin);
  struct Ran {
    Status status;
    Data output;
    Duration processor{0};  // measured for long requests, and where the caller wants it
  };
  // Runs the method on the request's payload, which it consumes.
  Ran Run(const ServedRequest& served, const Manner& manner, RequestContext& context) const;
  static Ran RunOnce(const ServedMethod& method, const Data& input, bool is_long,
                     RequestContext& context);
  // Runs the method for each partition; the status is the first that is not OK.
  Ran RunBatch(const ServedRequest& served, const LimitedRequest* limited, const Data& input,
               TurnTaker* turns, const RequestContext& context) const;
  // Moves the class and the extension from the request's header.
  RequestContext ContextOf(const ServedRequest& served) const;
  void ReportConsumption(const ServedRequest& served, const RequestRun& end);
  ResponseHeader Conclude(const ServedRequest& served, const RequestContext& context,
                          const RequestRun& end);
  // Status for a request that was ended early without a result.
  Status EndedEarly(Duration ran) const;

  const ServiceName service_;
  const Parts parts_;
};

}  // namespace neptune

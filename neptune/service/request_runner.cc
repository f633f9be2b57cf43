#include "neptune/service/request_runner.h"

#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/service/compute.h"
#include "neptune/service/long_work.h"
#include "neptune/service/method_table.h"
#include "neptune/service/partition_batch.h"
#include "neptune/service/server_stream.h"
#include "neptune/service/without_exceptions.h"
#include "neptune/thread/work_meter.h"

namespace neptune {
namespace {

// The reason not to run a request that begins now; OK: none.
Status RefusalOf(const IncomingRequest& request, const IncomingCall& call, TimePoint now) {
  if (call.cancelled()) return Cancelled("the caller cancelled");
  if (now < request.deadline) return OkStatus();
  return DeadlineExceeded("the deadline passed before the request ran");
}

// The same request, for another of its partitions.
RequestContext ForPartition(const RequestContext& context, PartitionId partition) {
  RequestContext other({.partition = partition,
                        .deadline = context.deadline(),
                        .service_class = context.service_class(),
                        .trace = context.trace(),
                        .origin = context.origin()},
                       context.call(), context.world());
  other.set_extension(context.extension());
  return other;
}

// Maximum size of the buffer for answers that a loop keeps.
constexpr size_t kRoomSizeMax = 16 * 1024;

void KeepRoom(std::string answer, std::string* room) {
  if (answer.capacity() <= kRoomSizeMax) *room = std::move(answer);
}

}  // namespace

void RequestRunner::Refuse(TakenRequest&& taken, const Status& status) {
  parts_.statistics.OnRefused(taken, status);
  ResponseHeader header;
  header.status = status;
  header.load_index = parts_.load.index_of_node();
  taken.request.reply.Send(header, "");
}

void RequestRunner::ServeLong(TakenRequest taken) {
  const TimePoint begin = Loop::Current()->Now();
  const ServedRequest served = taken.AsServed();
  if (parts_.limit == nullptr) {
    Serve(served, begin, {Where::kInPool});
    return;
  }
  parts_.queue.OnBegun(taken.request.received);
  parts_.limit->OnServed(served.method.may_be_ended_early()
                             ? ServeLimited(served, begin)
                             : Serve(served, begin, {Where::kInPool}));
}

TimePoint RequestRunner::ServeLimited(const ServedRequest& served, TimePoint begin) {
  const std::shared_ptr<IncomingCall> call = served.request.call;
  std::array<int, kHeldKinds.size()> held{};  // when the request was ended early
  LimitedRequest limited(*parts_.limit, *Loop::Current(), begin, [&] {
    for (const HeldKind kind : kHeldKinds) {
      held[static_cast<size_t>(kind)] = call->holdings().count(kind);
    }
    call->Cancel();
  });
  SetLimitOfThread(&limited);
  const TimePoint end = Serve(served, begin, {Where::kInPool, &limited});
  SetLimitOfThread(nullptr);
  for (const HeldKind kind : kHeldKinds) {
    const int given_back = held[static_cast<size_t>(kind)] - call->holdings().count(kind);
    if (given_back > 0) parts_.statistics.OnReleased(kind, given_back);
  }
  return end;
}

RequestRunner::Ran RequestRunner::Run(const ServedRequest& served, const Manner& manner,
                                      RequestContext& context) const {
  const bool is_long = manner.where == Where::kInPool;
  Data input(std::move(served.request.payload));
  std::optional<LongWork> long_work;
  if (is_long) context.SetTurns(&long_work.emplace(context));
  Ran ran = served.batch == nullptr
                ? RunOnce(served.method, input, is_long, manner.room, context)
                : RunBatch(served, manner.limited, input, is_long ? &*long_work : nullptr, context);
  context.SetTurns(nullptr);
  if (manner.room != nullptr) served.request.payload = std::move(input).ReleaseBytes();
  return ran;
}

RequestRunner::Ran RequestRunner::RunOnce(const ServedMethod& method, const Data& input,
                                          bool is_long, std::string* room,
                                          RequestContext& context) {
  IncomingCall& call = *context.call();
  std::optional<WorkMeter> meter;
  if (is_long || call.measures_work()) meter.emplace();
  Ran ran;
  if (room != nullptr) ran.output = Data::WithRoomOf(std::move(*room));
  ran.status =
      WithoutExceptions(method.name, [&] { return method.function(context, input, &ran.output); });
  if (!meter) return ran;
  ran.processor = meter->Read();
  if (call.measures_work() && ran.status.ok()) call.OnWorked(ran.processor);
  return ran;
}

RequestRunner::Ran RequestRunner::RunBatch(const ServedRequest& served,
                                           const LimitedRequest* limited, const Data& input,
                                           TurnTaker* turns, const RequestContext& context) const {
  PartitionBatch& batch = *served.batch;
  const TimePoint begin = Loop::Current()->Now();
  Ran all;
  for (size_t i = 0; i < batch.size(); ++i) {
    if (batch.is_finished(i)) continue;
    RequestContext own = ForPartition(context, batch.partition(i));
    own.SetLimited(limited);
    own.SetTurns(turns);
    Ran ran{.status = RefusalOf(served.request, *context.call(), Loop::Current()->Now())};
    if (ran.status.ok()) ran = RunOnce(served.method, input, turns != nullptr, nullptr, own);
    const bool ended_early = own.ended_early();
    if (ended_early && !ran.status.ok()) {
      ran.status = EndedEarly(Loop::Current()->Now() - begin);
    }
    all.processor += ran.processor;
    if (all.status.ok()) all.status = ran.status;
    batch.Finish(i, {std::move(ran.status), std::move(ran.output), ended_early});
  }
  return all;
}

TimePoint RequestRunner::Serve(const ServedRequest& served, TimePoint begin, const Manner& manner) {
  RequestRun end;
  end.begin = begin;
  IncomingRequest& request = served.request;
  const Status refusal = RefusalOf(request, *request.call, begin);
  RequestContext context = ContextOf(served);
  context.SetLimited(manner.limited);
  Ran ran = refusal.ok() ? Run(served, manner, context) : Ran{.status = refusal};
  end.status = std::move(ran.status);
  end.processor = ran.processor;
  end.end = Loop::Current()->Now();
  // A short request hardly ever parks, so elapsed time approximates its processor time and saves
  // two clock reads.
  if (manner.where != Where::kInPool) end.processor = end.ran();
  if (manner.where == Where::kInPool && served.method.options.grain == Grain::kShort) {
    served.method.grain.OnRun(end.processor);
  }
  if (context.ended_early()) {
    served.method.ended_early->Increment();
    if (!end.status.ok()) end.status = EndedEarly(end.ran());
  }
  if (refusal.ok()) ReportConsumption(served, end);
  if (manner.where != Where::kInHandler) parts_.load.End();
  const ResponseHeader header = Conclude(served, context, end);
  std::string answer;
  if (end.status.ok()) answer = std::move(ran.output).ReleaseBytes();
  request.reply.SendFrom(header, &answer);
  if (manner.room != nullptr) KeepRoom(std::move(answer), manner.room);
  context.call()->OnServed();
  return end.end;
}

void RequestRunner::ReportConsumption(const ServedRequest& served, const RequestRun& end) {
  parts_.statistics.OnRan(served, end);
  if (!parts_.reports_consumption) return;
  parts_.queue.OnServed(served.service_class, end.processor, end.ran(), end.end);
}

Status RequestRunner::EndedEarly(Duration ran) const {
  return DeadlineExceeded("ended early after ", ToMillis(ran), " ms by the time limit of ",
                          service_);
}

// The context of a sampled request is a new span, the parent of the method's calls.
RequestContext RequestRunner::ContextOf(const ServedRequest& served) const {
  RequestHeader& header = served.request.header;
  const TraceContext& from = header.trace;
  RequestContext context({.partition = header.partition,
                          .deadline = served.request.deadline,
                          .service_class = std::move(header.service_class),
                          .trace = from.sampled ? ChildOf(from, Loop::Current()->random()) : from,
                          .origin = {.handler = served.method.number,
                                     .retried = header.retried,
                                     .waited = header.waited}},
                         std::move(served.request.call), parts_.loops.world());
  if (!header.extension.empty()) context.set_extension(std::move(header.extension));
  return context;
}

ResponseHeader RequestRunner::Conclude(const ServedRequest& served, const RequestContext& context,
                                       const RequestRun& end) {
  parts_.statistics.OnEnded(served, context, end, parts_.loops.world());
  ResponseHeader header;
  header.status = end.status;
  header.queue_time =
      std::chrono::duration_cast<std::chrono::microseconds>(end.begin - served.request.received);
  header.run_time = std::chrono::duration_cast<std::chrono::microseconds>(end.ran());
  header.load_index = parts_.load.index_of_node();
  header.ended_early = context.ended_early();
  header.extension = context.answer_extension();
  return header;
}

void RequestRunner::ServeStream(TakenRequest taken) {
  IncomingRequest& request = taken.request;
  const ServedMethod& method = *taken.method;
  RequestRun end;
  end.begin = Loop::Current()->Now();
  RequestContext context = ContextOf(taken.AsServed());
  const Data opening(std::move(request.payload));
  MessageStream& messages = *context.call()->stream();
  ServerStream stream(messages, request.deadline);
  end.status = WithoutExceptions(method.name,
                                 [&] { return method.stream_function(context, opening, stream); });
  end.end = Loop::Current()->Now();
  method.messages_read->Increment(messages.read_count());
  method.messages_written->Increment(messages.written_count());
  parts_.load.End();
  request.reply.Send(Conclude(taken.AsServed(), context, end), "");
}

}  // namespace neptune

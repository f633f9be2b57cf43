#include "neptune/dac/stream_fold.h"

#include <deque>
#include <exception>
#include <optional>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/dac/stage_deadlines.h"
#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

constexpr char kMessageTag = 'm';
constexpr char kReportTag = 'r';

std::vector<PartitionId> PartitionsOf(std::span<const TreeMember> members) {
  std::vector<PartitionId> all;
  for (const TreeMember& member : members) {
    all.insert(all.end(), member.partitions.begin(), member.partitions.end());
  }
  return all;
}

}  // namespace

std::string WrapMessage(const Data& message) { return kMessageTag + message.bytes(); }
std::string WrapReport(const AggregationAnswer& report) {
  return kReportTag + EncodeAnswer(report);
}

// One incoming stream. Reading never fails: a broken stream ends, and its partitions are missing.
class StreamFold::Source final : public MessageSource {
 public:
  Source(std::unique_ptr<ClientStream> stream, std::vector<PartitionId> partitions, bool is_tree)
      : stream_(std::move(stream)), partitions_(std::move(partitions)), is_tree_(is_tree) {}
  // A stream that could not be opened.
  Source(std::vector<PartitionId> partitions, const Status& why)
      : partitions_(std::move(partitions)), is_tree_(false) {
    Break(why);
  }

  StatusOr<std::optional<Data>> Read() override {
    while (!ended_) {
      StatusOr<std::optional<Data>> message = stream_->Read();
      if (!message.ok()) {
        Break(message.status());
      } else if (!message->has_value()) {
        if (is_tree_) {
          Break(DataLoss("the stream of a subtree ended without its report"));
        } else {
          Complete();
        }
      } else if (!is_tree_) {
        return message;
      } else if (std::optional<Data> unwrapped = Unwrap(**message)) {
        return unwrapped;
      }
    }
    return std::nullopt;
  }

  // Reads the messages that the operator left, so that the report at the end is received.
  void Drain() {
    for (auto left = Read(); left.ok() && left->has_value(); left = Read()) {
    }
  }
  const AggregationAnswer& report() const { return report_; }

 private:
  // Returns the wrapped message; nullopt if it was the report or malformed.
  std::optional<Data> Unwrap(const Data& wrapped) {
    const std::string& bytes = wrapped.bytes();
    if (!bytes.empty() && bytes[0] == kMessageTag) return Data(bytes.substr(1));
    StatusOr<AggregationAnswer> report =
        bytes.empty() || bytes[0] != kReportTag
            ? StatusOr<AggregationAnswer>(DataLoss("a stream message has no tag"))
            : DecodeAnswer(std::string_view(bytes).substr(1));
    if (!report.ok()) {
      Break(report.status());
    } else {
      report_ = *std::move(report);
      ended_ = true;
    }
    return std::nullopt;
  }
  void Complete() {
    ended_ = true;
    report_.contributing = partitions_;
  }
  void Break(const Status& why) {
    ended_ = true;
    for (const PartitionId& partition : partitions_) report_.missing.push_back({partition, why});
  }

  const std::unique_ptr<ClientStream> stream_;
  const std::vector<PartitionId> partitions_;
  const bool is_tree_;
  bool ended_ = false;
  AggregationAnswer report_;
};

// A bounded pipe between two reductions of one loop.
class StreamFold::Pipe final : public MessageSource, public MessageSink {
 public:
  explicit Pipe(TimePoint deadline) : deadline_(deadline) {}

  Status Write(const Data& message) override {
    while (messages_.size() >= kPipeLength && !reader_gone_) {
      NEPTUNE_RETURN_IF_ERROR(Wait(&writer_));
    }
    if (reader_gone_) return OkStatus();  // the rest is discarded
    messages_.push_back(message);
    Wake(&reader_);
    return OkStatus();
  }
  StatusOr<std::optional<Data>> Read() override {
    while (messages_.empty() && !ended_) NEPTUNE_RETURN_IF_ERROR(Wait(&reader_));
    if (messages_.empty()) {
      NEPTUNE_RETURN_IF_ERROR(why_ended_);
      return std::nullopt;
    }
    Data message = std::move(messages_.front());
    messages_.pop_front();
    Wake(&writer_);
    return std::optional(std::move(message));
  }
  void End(const Status& why) {
    ended_ = true;
    why_ended_ = why;
    Wake(&reader_);
  }
  void LeaveReader() {
    reader_gone_ = true;
    messages_.clear();
    Wake(&writer_);
  }

 private:
  Status Wait(ThreadRef* waiter) {
    *waiter = ThreadRef(UserThread::Current());
    const ParkResult result = this_thread::Park(deadline_);
    *waiter = ThreadRef();
    if (result == ParkResult::kWoken) return OkStatus();
    return result == ParkResult::kDeadline ? DeadlineExceeded("reducing streams")
                                           : Cancelled("the node stops");
  }
  static void Wake(ThreadRef* waiter) {
    if (*waiter) (*waiter)->Wake();
  }

  const TimePoint deadline_;
  std::deque<Data> messages_;
  bool ended_ = false;
  bool reader_gone_ = false;
  Status why_ended_;
  ThreadRef reader_;
  ThreadRef writer_;
};

StreamFold::StreamFold(ClientSession& session, const ServiceName& service,
                       const AggregationPlan& plan, StatusOr<StreamReduceOperator> reduce)
    : session_(session),
      service_(service),
      plan_(plan),
      reduce_(std::move(reduce)),
      reduce_parameters_(plan.reduce_parameters) {}

StreamFold::~StreamFold() = default;

void StreamFold::AddPartition(PartitionId partition, const NodeId* node, TimePoint deadline) {
  CallOptions options{.deadline = deadline};
  if (node != nullptr) options.only = *node;
  auto stream =
      OpenStream(session_, service_, partition, plan_.local, Data(plan_.local_parameters), options);
  if (stream.ok()) {
    sources_.push_back(
        std::make_unique<Source>(*std::move(stream), std::vector<PartitionId>{partition}, false));
  } else {
    sources_.push_back(
        std::make_unique<Source>(std::vector<PartitionId>{partition}, stream.status()));
  }
}

void StreamFold::AddSubtree(std::span<const TreeMember> members, TimePoint deadline) {
  const TreeMember& root = members.front();
  const std::vector<PartitionId> partitions = PartitionsOf(members);
  auto stream =
      OpenStream(session_, service_, root.partitions.front(),
                 MethodName(std::string(kAggregateStreamMethod)), Data(EncodeTask(plan_, members)),
                 {.deadline = deadline, .attempts_max = 1, .only = root.node});
  if (stream.ok()) {
    sources_.push_back(std::make_unique<Source>(*std::move(stream), partitions, true));
  } else if (reduce_.ok()) {
    for (const PartitionId& partition : partitions) AddPartition(partition, nullptr, deadline);
  } else {
    sources_.push_back(std::make_unique<Source>(partitions, stream.status()));
  }
}

// Folds the first source with the second, the result with the third, and so on, all concurrently.
Status StreamFold::Run(MessageSink& sink, TimePoint deadline) {
  if (sources_.empty()) return OkStatus();
  if (sources_.size() > 1) NEPTUNE_RETURN_IF_ERROR(reduce_.status());
  std::vector<std::unique_ptr<Pipe>> pipes;
  size_t running_count = 0;
  const ThreadRef self(UserThread::Current());
  MessageSource* folded = sources_.front().get();
  Status status;
  for (size_t i = 1; i < sources_.size() && status.ok(); ++i) {
    pipes.push_back(std::make_unique<Pipe>(deadline));
    Pipe& pipe = *pipes.back();
    const auto started = ThreadScheduler::Current()->Spawn(
        [this, first = folded, second = sources_[i].get(), &pipe, &running_count, self] {
          Status reduced;
          try {
            reduced = (*reduce_)(*first, *second, reduce_parameters_, pipe);
          } catch (const std::exception& error) {
            reduced = Internal("operator ", plan_.reduce, " threw: ", error.what());
          } catch (...) {
            reduced = Internal("operator ", plan_.reduce, " threw");
          }
          if (auto* const before = dynamic_cast<Pipe*>(first)) before->LeaveReader();
          pipe.End(reduced);
          --running_count;
          self->Wake();
        });
    if (!started.ok()) {
      status = started.status();
      pipe.End(status);
    } else {
      ++running_count;
    }
    folded = &pipe;
  }
  while (status.ok()) {
    StatusOr<std::optional<Data>> message = folded->Read();
    status = message.status();
    if (!status.ok() || !message->has_value()) break;
    status = sink.Write(**message);
  }
  if (!pipes.empty()) pipes.back()->LeaveReader();
  // The threads use local variables of this function.
  while (running_count > 0) this_thread::ParkUntilWoken();
  if (!status.ok()) return Annotate(status, StrCat("reducing streams of ", service_));
  for (const auto& source : sources_) source->Drain();
  return OkStatus();
}

AggregationAnswer StreamFold::ReleaseReport() {
  AggregationAnswer report;
  for (const auto& source : sources_) {
    const AggregationAnswer& part = source->report();
    if (report.reduce_error.ok()) report.reduce_error = part.reduce_error;
    report.contributing.insert(report.contributing.end(), part.contributing.begin(),
                               part.contributing.end());
    report.missing.insert(report.missing.end(), part.missing.begin(), part.missing.end());
    report.records.insert(report.records.end(), part.records.begin(), part.records.end());
  }
  return report;
}

Status ServeStreamTask(Client& client, const NodeId& node, const ServiceName& service,
                       RequestContext& context, const Data& request, ServerStream& stream) {
  NEPTUNE_ASSIGN_OR_RETURN(const AggregationTask task, DecodeTask(request.bytes()));
  NEPTUNE_ASSIGN_OR_RETURN(StreamReduceOperator reduce,
                           client.operators().FindStream(task.plan.reduce));
  ClientSession session(client, context);
  StreamFold fold(session, service, task.plan, std::move(reduce));
  const std::span<const TreeMember> members(task.members);
  std::vector<uint32_t> sizes;
  for (size_t begin = 1; begin < members.size(); begin += sizes.back()) {
    sizes.push_back(static_cast<uint32_t>(SubtreeLength(members.subspan(begin))));
  }
  const std::vector<TimePoint> deadlines =
      ChildDeadlines(task.plan.timeouts, context.deadline(), sizes,
                     {task.plan.reduce_time, task.plan.stage_margin}, context.Now());
  size_t begin = 1;
  for (size_t i = 0; i < sizes.size(); begin += sizes[i++]) {
    fold.AddSubtree(members.subspan(begin, sizes[i]), deadlines[i]);
  }
  const TimePoint own_deadline =
      context.deadline() == kNever ? kNever : context.deadline() - task.plan.stage_margin;
  for (const PartitionId& partition : members.front().partitions) {
    fold.AddPartition(partition, &node, own_deadline);
  }
  class Wrapping final : public MessageSink {
   public:
    explicit Wrapping(ServerStream& to) : to_(to) {}
    Status Write(const Data& message) override { return to_.Write(Data(WrapMessage(message))); }

   private:
    ServerStream& to_;
  } sink(stream);
  const Status status = fold.Run(sink, context.deadline());
  AggregationAnswer report = fold.ReleaseReport();
  if (report.reduce_error.ok()) report.reduce_error = status;
  return stream.Write(Data(WrapReport(report)));
}

}  // namespace neptune

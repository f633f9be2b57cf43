#include "neptune/service/client_stream.h"

#include <algorithm>
#include <string>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/capsule/capsule_permit.h"
#include "neptune/capsule/capsule_stack.h"
#include "neptune/service/call_path.h"
#include "neptune/wire/call_channel.h"
#include "neptune/wire/message_stream.h"

namespace neptune {
namespace {

// Sends the caller's half of a stream.
class ClientStreamOutlet final : public StreamOutlet {
 public:
  ClientStreamOutlet(CallChannel& channel, const uint64_t& call) : channel_(channel), call_(call) {}

  void SendMessage(std::string message) override {
    channel_.SendMessage(call_, std::move(message));
  }
  void SendGrant(uint32_t size) override { channel_.SendGrant(call_, size); }
  void SendEnd() override { channel_.SendEnd(call_); }

 private:
  CallChannel& channel_;
  const uint64_t& call_;  // known once the request was sent
};

RequestHeader StreamHeader(const ClientSession& session, const ServiceName& service,
                           PartitionId partition, const MethodName& method) {
  RequestHeader header = session.HeaderFor(service, partition, method);
  header.stream = true;
  return header;
}

class StreamInProgress final : public ClientStream, private AnswerSink {
 public:
  StreamInProgress(ClientSession& session, const CallOptions& options, RequestHeader header)
      : session_(session),
        header_(std::move(header)),
        path_(session_, header_, options, &report_),
        begin_(this_thread::Now()) {}
  ~StreamInProgress() override;

  // Connects to a replica and sends the opening request.
  Status Open(const Data& request);
  // Records the end of the stream in the statistics, the first time it is called.
  void Ended(const Status& status);

  Status Write(const Data& message) override;
  void EndWriting() override { messages_->EndWriting(); }
  StatusOr<std::optional<Data>> Read(TimePoint limit) override;
  const CallReport& report() const override { return report_; }

 private:
  void OnAnswer(StatusOr<CallAnswer>&& answer) override;
  std::shared_ptr<MessageStream> stream() override { return messages_; }
  // Enters the server's capsule for a wait.
  Status EnterCapsule(CapsulePermit* visit);
  Holding PlaceIn(const CapsulePermit& visit) const;
  TimePoint DeadlineIn(const CapsulePermit& visit) const;
  // Annotates the error of a wait with the server and the target.
  Status Explain(const Status& status);

  const ClientSession session_;  // keeps its caller alive
  RequestHeader header_;
  CallReport report_;
  CallPath path_;
  const TimePoint begin_;
  Replica replica_;  // the server
  std::shared_ptr<CallChannel> channel_;
  Holding held_;  // the open stream
  uint64_t call_ = 0;
  std::shared_ptr<MessageStream> messages_;  // shared with a cancellation in flight
  std::optional<CancelAction> on_cancel_;
  bool answered_ = false;
  bool concluded_ = false;
};

StreamInProgress::~StreamInProgress() {
  on_cancel_.reset();
  if (channel_ != nullptr && !answered_) {
    channel_->Forget(call_, /*tell_server=*/true);
    Ended(Cancelled("the stream was abandoned"));
  }
}

Status StreamInProgress::Open(const Data& request) {
  while (true) {
    NEPTUNE_ASSIGN_OR_RETURN(CallPath::Connected to, path_.Next());
    NEPTUNE_RETURN_IF_ERROR(path_.SetTimeLeft());
    messages_ =
        std::make_shared<MessageStream>(std::make_unique<ClientStreamOutlet>(*to.channel, call_));
    const StatusOr<uint64_t> call = to.channel->Call(path_.header(), request.bytes(), this);
    if (call.ok()) {
      call_ = *call;
      channel_ = std::move(to.channel);
      held_ = Holding(session_.holdings(), HeldKind::kCall);
      replica_ = *to.replica;
      path_.Detach();
      break;
    }
    path_.Failed(call.status());
  }
  // The cancellation may run on another loop than this stream's.
  on_cancel_.emplace(session_.caller(), [messages = messages_] {
    messages->Close(Cancelled("the caller is gone"), /*drop_unread=*/true);
  });
  return OkStatus();
}

void StreamInProgress::OnAnswer(StatusOr<CallAnswer>&& answer) {
  answered_ = true;
  Status status = answer.status();
  if (answer.ok()) {
    const ResponseHeader& header = answer->header;
    status = header.status;
    report_.queue_time = header.queue_time;
    report_.run_time = header.run_time;
    report_.load_index = header.load_index;
  }
  messages_->Close(status, /*drop_unread=*/false);
  Ended(status);
}

void StreamInProgress::Ended(const Status& status) {
  if (std::exchange(concluded_, true)) return;
  held_.Release();
  report_.duration = Loop::Current()->Now() - begin_;
  session_.client().Conclude(path_.header(), session_.trace, status, report_);
}

Status StreamInProgress::Explain(const Status& status) {
  return Annotate(status, StrCat("stream to ", report_.server, " on ", path_.Target()));
}

Status StreamInProgress::EnterCapsule(CapsulePermit* visit) {
  const CancelAction wake_me(session_.caller(),
                             [self = ThreadRef(UserThread::Current())] { self->Wake(); });
  return visit->Enter(session_.client().capsules(), OperationOf(path_.header(), replica_),
                      {.deadline = path_.deadline(),
                       .caller = session_.origin().handler,
                       .service_class = session_.service_class,
                       .given_up = [this] { return path_.cancelled(); }});
}

Holding StreamInProgress::PlaceIn(const CapsulePermit& visit) const {
  return visit.inside() ? Holding(session_.holdings(), HeldKind::kCapsulePlace) : Holding();
}

TimePoint StreamInProgress::DeadlineIn(const CapsulePermit& visit) const {
  return visit.inside() ? visit.deadline() : path_.deadline();
}

Status StreamInProgress::Write(const Data& message) {
  CapsulePermit visit;
  if (messages_->WriteWaits()) NEPTUNE_RETURN_IF_ERROR(Explain(EnterCapsule(&visit)));
  const Holding place = PlaceIn(visit);
  const Status status = messages_->Write(message.bytes(), DeadlineIn(visit));
  visit.Leave(OutcomeOf(status));
  return Explain(status);
}

StatusOr<std::optional<Data>> StreamInProgress::Read(TimePoint limit) {
  CapsulePermit visit;
  if (messages_->ReadWaits()) NEPTUNE_RETURN_IF_ERROR(Explain(EnterCapsule(&visit)));
  const Holding place = PlaceIn(visit);
  StatusOr<std::optional<std::string>> bytes = messages_->Read(std::min(DeadlineIn(visit), limit));
  visit.Leave(OutcomeOf(bytes.status()));
  if (!bytes.ok()) return Explain(bytes.status());
  if (!bytes->has_value()) return std::nullopt;
  return Data(**std::move(bytes));
}

}  // namespace

StatusOr<std::unique_ptr<ClientStream>> OpenStream(ClientSession& session,
                                                   const ServiceName& service,
                                                   PartitionId partition, const MethodName& method,
                                                   const Data& request,
                                                   const CallOptions& options) {
  auto stream = std::make_unique<StreamInProgress>(
      session, options, StreamHeader(session, service, partition, method));
  const Status status = stream->Open(request);
  if (status.ok()) return stream;
  stream->Ended(status);
  return status;
}

Status ClientStream::Finish() {
  EndWriting();
  while (true) {
    NEPTUNE_ASSIGN_OR_RETURN(const std::optional<Data> passed_over, Read());
    if (!passed_over) return OkStatus();
  }
}

}  // namespace neptune

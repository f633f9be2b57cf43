// A server that sends well-formed frames of any kind in any order, and any bytes, to the calling
// side of a connection: each call is answered at most once, and exactly once unless it was
// forgotten; nothing is answered after that, and a connection that has ended accepts no call.
//
// An operation is two bytes: what, and on which call or how much.

#include <glog/logging.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "neptune/wire/client_connection.h"
#include "neptune/wire/frame.h"
#include "neptune/wire/message_stream.h"
#include "tools/bazel/fuzz/place.h"

namespace neptune {
namespace {

constexpr size_t kOperationCountMax = 500;

FuzzPlace answered_call("a call is answered");
FuzzPlace delivered_message("a message of a stream is delivered");
FuzzPlace refused_server("the server breaks the protocol");

// The server's end, which outlives the caller's stream.
struct Server {
  StreamHandler* caller = nullptr;  // null once the caller has closed
  size_t written_size = 0;
};

class CallerStream final : public Stream {
 public:
  explicit CallerStream(Server& server) : server_(server) {}
  ~CallerStream() override { server_.caller = nullptr; }
  void Start(StreamHandler* handler) override { server_.caller = handler; }
  void Write(std::string bytes) override { server_.written_size += bytes.size(); }
  size_t unsent_size() const override { return 0; }
  void SetReading(bool) override {}
  void Close() override { server_.caller = nullptr; }
  Endpoint peer() const override { return {kLoopbackAddress, 1}; }

 private:
  Server& server_;
};

class SilentOutlet final : public StreamOutlet {
 public:
  void SendMessage(std::string) override {}
  void SendGrant(uint32_t) override {}
  void SendEnd() override {}
};

struct Call final : public AnswerSink {
  explicit Call(bool has_stream) {
    if (has_stream) messages = std::make_shared<MessageStream>(std::make_unique<SilentOutlet>());
  }
  void OnAnswer(StatusOr<CallAnswer>&& answer) override {
    CHECK(!is_forgotten) << "a forgotten call is answered";
    CHECK_EQ(++answer_count, 1) << "a call is answered twice";
    if (answer.ok()) answered_call.Reach();
  }
  std::shared_ptr<MessageStream> stream() override {
    if (messages != nullptr) delivered_message.Reach();
    return messages;
  }

  std::shared_ptr<MessageStream> messages;
  uint64_t number = 0;
  int answer_count = 0;
  bool is_forgotten = false;
};

class Connection {
 public:
  Connection() {
    connection_ = std::make_unique<ClientConnection>(std::make_unique<CallerStream>(server_),
                                                     ClientConnectionOptions{.call_count_max = 8});
    connection_->Start([this](const Status&) { ++end_count_; });
  }

  void Begin(bool has_stream) {
    RequestHeader header;
    header.service = ServiceName("s");
    header.method = MethodName("m");
    header.stream = has_stream;
    auto call = std::make_unique<Call>(has_stream);
    const StatusOr<uint64_t> number = connection_->Call(header, "payload", call.get());
    CHECK(number.ok() || !connection_->usable() || connection_->in_flight_count() == 8);
    if (!number.ok()) return;
    call->number = *number;
    calls_.push_back(std::move(call));
  }

  void Forget(uint8_t which) {
    Call* const call = Find(which);
    if (call == nullptr || call->answer_count > 0) return;
    call->is_forgotten = true;
    connection_->Forget(call->number, (which & 1) != 0);
  }

  void Deliver(std::string_view bytes) {
    if (server_.caller != nullptr) server_.caller->OnData(bytes);
    if (end_count_ > 0) refused_server.Reach();
  }

  void SendFrame(uint8_t what, uint8_t which) {
    const auto type = static_cast<FrameType>(1 + what % 8);
    const Call* const call = Find(which);
    const uint64_t number = call == nullptr || which >= 250 ? which % 4 : call->number;
    std::string section;
    std::string payload;
    if (type == FrameType::kResponse) section = EncodeResponseHeader({.run_time = {}});
    if (type == FrameType::kGrant) section = EncodeGrant(uint32_t{which} * 4096);
    if (type == FrameType::kAccepted && number == 0) section = EncodeFeatures(which);
    if (type == FrameType::kMessage) payload.assign(size_t{which} * what, 'x');
    if (what >= 248) section += "?";
    std::string bytes;
    CHECK(AppendFrame(type, number, section, payload, &bytes).ok());
    Deliver(bytes);
  }

  void Hangup() {
    if (server_.caller != nullptr) server_.caller->OnClosed(OkStatus());
  }

  ~Connection() {
    connection_.reset();
    CHECK_LE(end_count_, 1);
    for (const auto& call : calls_) {
      CHECK_EQ(call->answer_count, call->is_forgotten ? 0 : 1) << "call " << call->number;
    }
  }

 private:
  Call* Find(uint8_t which) {
    if (calls_.empty()) return nullptr;
    return calls_[calls_.size() - 1 - which % std::min<size_t>(calls_.size(), 5)].get();
  }

  Server server_;
  std::vector<std::unique_ptr<Call>> calls_;
  std::unique_ptr<ClientConnection> connection_;
  int end_count_ = 0;
};

void Run(std::string_view bytes) {
  Connection connection;
  for (size_t i = 0; i < kOperationCountMax && bytes.size() >= 2; ++i) {
    const auto what = static_cast<uint8_t>(bytes[0]);
    const auto which = static_cast<uint8_t>(bytes[1]);
    bytes.remove_prefix(2);
    switch (what % 16) {
      case 8:
      case 9:
        connection.Begin((which & 1) != 0);
        break;
      case 10:
        connection.Forget(which);
        break;
      case 11:  // the next bytes as they are
        connection.Deliver(bytes.substr(0, which));
        bytes.remove_prefix(std::min<size_t>(bytes.size(), which));
        break;
      case 12:
        if (which == 0) connection.Hangup();
        break;
      default:
        connection.SendFrame(what, which);
    }
  }
}

}  // namespace
}  // namespace neptune

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  neptune::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}

#include "tools/lab/replication/sim_flood.h"

#include <glog/logging.h>

#include <utility>

#include "neptune/replication/client/replica_extension.h"
#include "neptune/wire/frame.h"

namespace search::lab {
namespace {

using neptune::Duration;
using neptune::Status;
using neptune::StatusOr;
using neptune::Stream;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kConnectMax = seconds(1);
constexpr Duration kRetryPause = milliseconds(100);

}  // namespace

struct SimFlood::Shared {
  neptune::Loop& loop;
  const neptune::Endpoint node;
  const SimFloodOptions options;
  uint64_t count = 0;
};

// Its events hold weak pointers to it, because they may run after its end.
class SimFlood::Connection final : public neptune::StreamHandler,
                                   public std::enable_shared_from_this<Connection> {
 public:
  explicit Connection(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  void Connect() {
    neptune::Loop& loop = shared_->loop;
    loop.network().Connect(shared_->node, loop.Now() + kConnectMax,
                           [weak = weak_from_this()](StatusOr<std::unique_ptr<Stream>> stream) {
                             if (const auto self = weak.lock()) self->Begin(std::move(stream));
                           });
  }

  void OnData(std::string_view bytes) override {
    decoder_->Feed(bytes);
    while (true) {
      const auto frame = decoder_->NextView();
      if (!frame.ok()) return ConnectLater();
      if (!frame->has_value()) return;
      if ((*frame)->type != neptune::FrameType::kResponse) continue;
      ++shared_->count;
      After(shared_->options.pause, [](Connection& self) { self.Send(); });
    }
  }
  void OnClosed(const Status&) override { ConnectLater(); }

 private:
  void Begin(StatusOr<std::unique_ptr<Stream>> stream) {
    if (!stream.ok()) return ConnectLater();
    stream_ = *std::move(stream);
    decoder_ = std::make_unique<neptune::FrameDecoder>();
    stream_->Start(this);
    if (!shared_->options.reads) stream_->SetReading(false);
    for (int i = 0; i < shared_->options.in_flight; ++i) Send();
  }

  void Send() {
    if (stream_ == nullptr) return;
    const SimFloodOptions& options = shared_->options;
    neptune::RequestHeader header;
    header.service = options.service;
    header.partition = options.partition;
    header.method = options.method;
    if (options.is_replicated) header.extension = neptune::EncodeReplicaDemand({});
    std::string frame;
    const Status made =
        neptune::AppendFrame(neptune::FrameType::kRequest, ++call_,
                             neptune::EncodeRequestHeader(header), options.request, &frame);
    CHECK(made.ok()) << made;
    stream_->Write(std::move(frame));
    if (!options.reads) ++shared_->count;
  }

  void ConnectLater() {
    stream_.reset();
    After(kRetryPause, [](Connection& self) { self.Connect(); });
  }

  void After(Duration pause, void (*act)(Connection& self)) {
    shared_->loop.RunAt(shared_->loop.Now() + pause, [weak = weak_from_this(), act] {
      if (const auto self = weak.lock()) act(*self);
    });
  }

  const std::shared_ptr<Shared> shared_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<neptune::FrameDecoder> decoder_;
  uint64_t call_ = 0;
};

SimFlood::SimFlood(neptune::Loop& loop, const neptune::Endpoint& node,
                   const SimFloodOptions& options)
    : shared_(std::make_shared<Shared>(loop, node, options)) {
  CHECK_LE(options.connections, kFloodConnectionCountMax);
  for (int i = 0; i < options.connections; ++i) {
    connections_.push_back(std::make_shared<Connection>(shared_));
    connections_.back()->Connect();
  }
}

SimFlood::~SimFlood() = default;

uint64_t SimFlood::count() const { return shared_->count; }

}  // namespace search::lab

// Cost of TLS between nodes for a connection over loopback, compared with the same connection
// without TLS: small messages, one or many a turn, on a new connection and on one that has carried
// a large message.
//
//   bazel run -c opt //neptune/security:tls_benchmark
//
// Arguments: TLS or not; messages written in a turn; size of the preceding large message, or 0. A
// message is answered by the same bytes; an iteration sends a turn's messages there and back.

#include <benchmark/benchmark.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "neptune/base/notification.h"
#include "neptune/base/strings.h"
#include "neptune/security/certificate_maker.h"
#include "neptune/security/secure_network.h"
#include "neptune/security/tls_context.h"
#include "neptune/world/real/real_world.h"

namespace neptune {
namespace {

constexpr size_t kMessageSize = 64;

std::shared_ptr<TlsContext> MakeContext() {
  const auto folder = std::filesystem::temp_directory_path() / StrCat("tls-benchmark-", getpid());
  std::filesystem::create_directories(folder);
  const auto put = [&](const std::string& name, const std::string& contents) {
    const std::string path = folder / name;
    std::ofstream(path) << contents;
    chmod(path.c_str(), 0600);
    return path;
  };
  const Validity validity{WallTime{1500000000ll * 1000000000}, WallTime{4000000000ll * 1000000000}};
  const auto authority = MakeAuthority("benchmark", validity);
  const auto own = MakeCertificate(*authority, "node", {}, validity);
  auto context = TlsContext::Load(TlsUse::kNodes,
                                  {put("own.crt", own->certificate), put("own.key", own->key),
                                   put("authority.crt", authority->certificate)},
                                  [] { return WallTime{1600000000ll * 1000000000}; });
  std::filesystem::remove_all(folder);
  return *std::move(context);
}

class Echo final : public StreamHandler {
 public:
  explicit Echo(std::unique_ptr<Stream> stream) : stream_(std::move(stream)) {
    stream_->Start(this);
  }

 private:
  // Handles one message at a time, as a node answers requests.
  void OnData(std::string_view bytes) override {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kMessageSize))) {
      stream_->Write(std::string(bytes.substr(0, kMessageSize)));
    }
  }
  void OnClosed(const Status&) override {}

  const std::unique_ptr<Stream> stream_;
};

// Both ends, on one loop.
class Pair final : public StreamHandler {
 public:
  explicit Pair(std::shared_ptr<TlsContext> tls)
      : world_(MakeRealWorld({})), loop_(*world_->StartLoop({.name = "pair"})) {
    Notification connected;
    loop_->Post([&] {
      network_ = std::make_unique<SecureNetwork>(*loop_, SecureNetworkOptions{.tls = tls});
      listener_ = *network_->Listen(*Endpoint::Parse("127.0.0.1:0"), {}, [this](auto stream) {
        echo_ = std::make_unique<Echo>(std::move(stream));
      });
      network_->Connect(listener_->local(), loop_->Now() + std::chrono::seconds(5),
                        [&](StatusOr<std::unique_ptr<Stream>> stream) {
                          stream_ = *std::move(stream);
                          stream_->Start(this);
                          connected.Notify();
                        });
    });
    connected.WaitForNotification();
  }
  ~Pair() override {
    Notification gone;
    loop_->Post([&] {
      stream_.reset();
      echo_.reset();
      listener_.reset();
      network_.reset();
      gone.Notify();
    });
    gone.WaitForNotification();
    world_->Stop();
  }

  // Sends `count` messages of `size` bytes there and back, `turn_count` times.
  void Exchange(int64_t turn_count, int count, size_t size) {
    Notification done;
    loop_->Post([&] {
      turns_left_ = turn_count;
      count_ = count;
      size_ = size;
      done_ = &done;
      WriteTurn();
    });
    done.WaitForNotification();
  }

 private:
  void WriteTurn() {
    awaited_ = static_cast<size_t>(count_) * size_;
    for (int i = 0; i < count_; ++i) stream_->Write(std::string(size_, 'x'));
  }
  void OnData(std::string_view bytes) override {
    awaited_ -= bytes.size();
    if (awaited_ > 0) return;
    if (--turns_left_ > 0) return WriteTurn();
    done_->Notify();
  }
  void OnClosed(const Status&) override {}

  const std::unique_ptr<World> world_;
  Loop* const loop_;
  std::unique_ptr<SecureNetwork> network_;
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<Echo> echo_;
  std::unique_ptr<Stream> stream_;
  int64_t turns_left_ = 0;
  int count_ = 0;
  size_t size_ = 0;
  size_t awaited_ = 0;
  Notification* done_ = nullptr;
};

void SmallMessages(benchmark::State& state) {
  Pair pair(state.range(0) != 0 ? MakeContext() : nullptr);
  if (state.range(2) > 0) pair.Exchange(1, 1, static_cast<size_t>(state.range(2)));
  constexpr int64_t kTurns = 100;
  const auto count = static_cast<int>(state.range(1));
  for (auto _ : state) pair.Exchange(kTurns, count, kMessageSize);
  state.SetItemsProcessed(state.iterations() * kTurns * count);
}
BENCHMARK(SmallMessages)
    ->ArgNames({"tls", "a_turn", "large_before"})
    ->ArgsProduct({{0, 1}, {1, 32}, {0, 900'000}})
    ->UseRealTime();

}  // namespace
}  // namespace neptune

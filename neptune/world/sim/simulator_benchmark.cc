// Events a second of the simulated world; the target is 1,000,000 on one core.

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

void ReportEvents(benchmark::State& state, const Simulator& simulator) {
  state.SetItemsProcessed(static_cast<int64_t>(simulator.event_count()));
}

// Each of many loops keeps one timer running, and cancels and renews a deadline at each turn.
void BM_Timers(benchmark::State& state) {
  Simulator simulator(1);
  struct Ticker {
    Loop* loop;
    TimerId deadline = 0;
    void Tick() {
      loop->CancelTimer(deadline);
      deadline = loop->RunAt(loop->Now() + std::chrono::seconds(1), [] {});
      loop->RunAt(loop->Now() + Duration(1 + loop->random().Below(1'000'000)), [this] { Tick(); });
    }
  };
  std::vector<std::unique_ptr<Ticker>> tickers;
  for (int64_t i = 0; i < state.range(0); ++i) {
    SimWorld& world = simulator.AddHost({.name = std::to_string(i)});
    tickers.push_back(std::make_unique<Ticker>(Ticker{*world.StartLoop({.name = "loop"})}));
    tickers.back()->Tick();
  }
  for (auto _ : state) simulator.Step();
  ReportEvents(state, simulator);
}
BENCHMARK(BM_Timers)->Arg(5)->Arg(512)->Arg(10'000);

void BM_Posts(benchmark::State& state) {
  Simulator simulator(1);
  Loop* loop = *simulator.AddHost({.name = "a"}).StartLoop({.name = "loop"});
  std::function<void()> again = [&] { loop->Post([&] { again(); }); };
  again();
  for (auto _ : state) simulator.Step();
  ReportEvents(state, simulator);
}
BENCHMARK(BM_Posts);

struct Echo : StreamHandler {
  void OnData(std::string_view bytes) override { stream->Write(std::string(bytes)); }
  void OnClosed(const Status&) override {}
  std::unique_ptr<Stream> stream;
};

// Streams between pairs of hosts bounce a message of 128 bytes.
void BM_StreamPingPong(benchmark::State& state) {
  Simulator simulator(1);
  std::vector<std::unique_ptr<Echo>> ends;
  std::vector<std::unique_ptr<Listener>> listeners;
  const auto add_end = [&](std::unique_ptr<Stream> stream) {
    ends.push_back(std::make_unique<Echo>());
    ends.back()->stream = std::move(stream);
    ends.back()->stream->Start(ends.back().get());
  };
  for (int64_t i = 0; i < state.range(0); ++i) {
    SimWorld& server = simulator.AddHost({.name = "s" + std::to_string(i)});
    SimWorld& client = simulator.AddHost({.name = "c" + std::to_string(i)});
    Loop* server_loop = *server.StartLoop({.name = "loop"});
    Loop* client_loop = *client.StartLoop({.name = "loop"});
    listeners.push_back(*server_loop->network().Listen({0, 80}, {}, add_end));
    client_loop->network().Connect({server.address(), 80}, kNever,
                                   [&](StatusOr<std::unique_ptr<Stream>> stream) {
                                     add_end(*std::move(stream));
                                     ends.back()->stream->Write(std::string(128, 'x'));
                                   });
  }
  simulator.RunFor(std::chrono::milliseconds(2));
  const uint64_t before = simulator.event_count();
  for (auto _ : state) simulator.Step();
  state.SetItemsProcessed(static_cast<int64_t>(simulator.event_count() - before));
}
BENCHMARK(BM_StreamPingPong)->Arg(4)->Arg(256);

// Hosts take turns announcing themselves to all others of a cluster.
void BM_Multicast(benchmark::State& state) {
  constexpr Endpoint kGroup = {0xefc01a07, 7000};
  Simulator simulator(1);
  std::vector<std::unique_ptr<DatagramSocket>> sockets;
  for (int64_t i = 0; i < state.range(0); ++i) {
    Loop* loop = *simulator.AddHost({.name = std::to_string(i)}).StartLoop({.name = "loop"});
    sockets.push_back(*loop->network().OpenDatagram({.multicast_group = kGroup},
                                                    [](const Endpoint&, std::string_view) {}));
  }
  size_t next = 0;
  for (auto _ : state) {
    if (!simulator.Step()) {
      (void)sockets[next++ % sockets.size()]->SendTo(kGroup, std::string(400, 'a'));
    }
  }
  ReportEvents(state, simulator);
}
BENCHMARK(BM_Multicast)->Arg(64)->Arg(512);

}  // namespace
}  // namespace neptune

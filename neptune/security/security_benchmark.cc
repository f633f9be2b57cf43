// Cost of a cluster key: sealing and opening a load poll and an announcement, and a connection's
// handshake.

#include <benchmark/benchmark.h>

#include <string>

#include "neptune/security/datagram_seal.h"
#include "neptune/security/key_handshake.h"

namespace neptune {
namespace {

ClusterMac MakeMac() {
  std::string key;
  for (int i = 0; i < 32; ++i) key.push_back(static_cast<char>(0x80 + i));
  return ClusterMac(*ClusterKeys::Parse(key, "benchmark"));
}

void Seal(benchmark::State& state) {
  ClusterMac mac = MakeMac();
  const std::string bytes(static_cast<size_t>(state.range(0)), 'x');
  for (auto _ : state) benchmark::DoNotOptimize(SealDatagram(bytes, mac));
}
BENCHMARK(Seal)->Arg(20)->Arg(1400);

void OpenSeal(benchmark::State& state) {
  ClusterMac mac = MakeMac();
  const std::string sealed =
      SealDatagram(std::string(static_cast<size_t>(state.range(0)), 'x'), mac);
  for (auto _ : state) benchmark::DoNotOptimize(OpenDatagramSeal(sealed, mac));
}
BENCHMARK(OpenSeal)->Arg(20)->Arg(1400);

// Runs both ends without the network.
void Handshake(benchmark::State& state) {
  ClusterMac mac = MakeMac();
  Nonce nonce;
  nonce.fill('n');
  for (auto _ : state) {
    KeyHandshake caller(HandshakeRole::kCaller, mac, nonce);
    KeyHandshake server(HandshakeRole::kServer, mac, nonce);
    server.Take(caller.Take(server.Take(caller.Begin())));
    if (!server.done()) state.SkipWithError("handshake failed");
  }
}
BENCHMARK(Handshake);

}  // namespace
}  // namespace neptune

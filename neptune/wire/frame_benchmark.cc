// What a frame costs: header and frame of a request of the given payload, written and cut again.

#include <benchmark/benchmark.h>

#include <string>

#include "neptune/wire/frame.h"

namespace neptune {
namespace {

RequestHeader Header() {
  RequestHeader header;
  header.service = ServiceName("index-tier-1");
  header.partition = PartitionId(3);
  header.method = MethodName("Search");
  header.time_left = std::chrono::milliseconds(100);
  header.service_class = "interactive";
  return header;
}

void SetRates(benchmark::State& state, size_t frame_size) {
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(frame_size));
}

void BM_Encode(benchmark::State& state) {
  const RequestHeader header = Header();
  const std::string payload(state.range(0), 'x');
  size_t size = 0;
  for (auto _ : state) {
    std::string bytes;
    benchmark::DoNotOptimize(
        AppendFrame(FrameType::kRequest, 7, EncodeRequestHeader(header), payload, &bytes).ok());
    size = bytes.size();
  }
  SetRates(state, size);
}
BENCHMARK(BM_Encode)->Arg(128)->Arg(4096)->Arg(1 << 20);

void BM_Decode(benchmark::State& state) {
  std::string bytes;
  (void)AppendFrame(FrameType::kRequest, 7, EncodeRequestHeader(Header()),
                    std::string(state.range(0), 'x'), &bytes);
  FrameDecoder decoder;
  for (auto _ : state) {
    decoder.Feed(bytes);
    const auto frame = decoder.Next();
    benchmark::DoNotOptimize(DecodeRequestHeader((*frame)->section).ok());
  }
  SetRates(state, bytes.size());
}
BENCHMARK(BM_Decode)->Arg(128)->Arg(4096)->Arg(1 << 20);

}  // namespace
}  // namespace neptune

BENCHMARK_MAIN();

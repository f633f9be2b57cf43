// Closed-loop writers of 100-byte values to one member of etcd, over gRPC.
//
//   etcd_load --port=2379 --clients=64 --connections=8 --seconds=10
//
// Prints "begin" after its warm-up, and at the end "count=N lost=N seconds=S p50_us=N p99_us=N".

#include <gflags/gflags.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <sys/prctl.h>
#include <time.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/histogram.h"

DEFINE_int32(port, 2379, "client port of the member");
DEFINE_int32(clients, 64, "writers, each with one call at a time");
DEFINE_int32(connections, 8, "connections that they share");
DEFINE_int32(value_size, 100, "bytes of a value, below 128");
DEFINE_double(seconds, 10, "duration of the measurement");
DEFINE_double(warmup, 1, "duration of the load before it, in seconds");

namespace search::lab {
namespace {

constexpr int kClientCountMax = 4096;
constexpr int kValueSizeMax = 127;  // a length of one byte
constexpr double kNsPerSecond = 1e9;
constexpr char kPut[] = "/etcdserverpb.KV/Put";

int64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

// PutRequest { bytes key = 1; bytes value = 2; } in bytes.
grpc::ByteBuffer PutRequest(const std::string& key, const std::string& value) {
  std::string bytes;
  bytes += '\x0a';
  bytes += static_cast<char>(key.size());
  bytes += key;
  bytes += '\x12';
  bytes += static_cast<char>(value.size());
  bytes += value;
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

struct Call {
  std::unique_ptr<grpc::ClientContext> context;
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader;
  grpc::ByteBuffer answer;
  grpc::Status status;
  int64_t begin_ns = 0;
  size_t client = 0;
  uint64_t number = 0;
};

class Load {
 public:
  Load() : value_(static_cast<size_t>(FLAGS_value_size), 'v') {
    for (int i = 0; i < FLAGS_connections; ++i) {
      grpc::ChannelArguments arguments;
      arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
      stubs_.push_back(std::make_unique<grpc::GenericStub>(
          grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(FLAGS_port),
                                    grpc::InsecureChannelCredentials(), arguments)));
    }
  }

  void Run() {
    std::vector<Call> calls(static_cast<size_t>(FLAGS_clients));
    const int64_t begin_ns = NowNs() + static_cast<int64_t>(FLAGS_warmup * kNsPerSecond);
    const int64_t end_ns = begin_ns + static_cast<int64_t>(FLAGS_seconds * kNsPerSecond);
    for (size_t i = 0; i < calls.size(); ++i) {
      calls[i].client = i;
      Begin(calls[i]);
    }
    bool has_begun = false;
    void* tag = nullptr;
    bool ok = false;
    for (int64_t now = NowNs(); now < end_ns && queue_.Next(&tag, &ok); now = NowNs()) {
      if (!has_begun && now >= begin_ns) {
        has_begun = true;
        std::printf("begin\n");
        std::fflush(stdout);
      }
      Call& call = *static_cast<Call*>(tag);
      if (has_begun && call.begin_ns >= begin_ns) Count(call, now);
      Begin(call);
    }
    Print(static_cast<double>(NowNs() - begin_ns) / kNsPerSecond);
    std::_Exit(0);  // calls are under way
  }

 private:
  void Begin(Call& call) {
    call.context = std::make_unique<grpc::ClientContext>();
    call.context->set_wait_for_ready(true);
    call.context->set_deadline(std::chrono::system_clock::time_point::max());
    const std::string key = "w" + std::to_string(call.client) + "." + std::to_string(call.number++);
    call.begin_ns = NowNs();
    call.reader = stubs_[call.client % stubs_.size()]->PrepareUnaryCall(
        call.context.get(), kPut, PutRequest(key, value_), &queue_);
    call.reader->StartCall();
    call.reader->Finish(&call.answer, &call.status, &call);
  }

  void Count(const Call& call, int64_t now) {
    if (!call.status.ok()) {
      ++lost_;
      return;
    }
    ns_.Record(static_cast<uint64_t>(now - call.begin_ns));
  }

  void Print(double seconds) const {
    constexpr uint64_t kNsPerUs = 1000;
    std::printf("count=%lu lost=%lu seconds=%.6f p50_us=%lu p99_us=%lu\n",
                static_cast<unsigned long>(ns_.count()), static_cast<unsigned long>(lost_), seconds,
                static_cast<unsigned long>(ns_.Percentile(0.5) / kNsPerUs),
                static_cast<unsigned long>(ns_.Percentile(0.99) / kNsPerUs));
    std::fflush(stdout);
  }

  const std::string value_;
  std::vector<std::unique_ptr<grpc::GenericStub>> stubs_;
  grpc::CompletionQueue queue_;
  neptune::Histogram ns_;
  uint64_t lost_ = 0;
};

}  // namespace
}  // namespace search::lab

int main(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (FLAGS_clients < 1 || FLAGS_clients > search::lab::kClientCountMax || FLAGS_connections < 1 ||
      FLAGS_connections > FLAGS_clients || FLAGS_value_size < 0 ||
      FLAGS_value_size > search::lab::kValueSizeMax) {
    std::fprintf(stderr, "etcd_load: a flag is out of range\n");
    return 2;
  }
  search::lab::Load().Run();
}

// Floods one node with requests over connections of its own, until its input ends.
//
//   flood --port=7001 --service=nemesis --method=Echo --connections=64 --in_flight=8
//
// Prints "begin" when it has started; for each line of its input, what happened since the line
// before: "answers=N errors=N p50_us=N p99_us=N max_us=N". A lost connection is made again.

#include <arpa/inet.h>
#include <fcntl.h>
#include <gflags/gflags.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/descriptor.h"
#include "neptune/base/histogram.h"
#include "neptune/replication/client/replica_extension.h"
#include "neptune/wire/frame.h"
#include "tools/terminal/command_line.h"

DEFINE_string(address, "127.0.0.1", "address of the node");
DEFINE_int32(port, 0, "port for calls of the node");
DEFINE_string(service, "nemesis", "service that is called");
DEFINE_int32(partition, 0, "its partition");
DEFINE_string(method, "Echo", "method that is called");
DEFINE_string(request, "hello", "bytes of each request");
DEFINE_int32(connections, 64, "number of connections");
DEFINE_int32(in_flight, 1, "unanswered requests of each connection");
DEFINE_bool(replicated, false, "calls are reads of replicated data");
DEFINE_bool(garbage, false, "sends what is not a frame, and connects again when it is refused");
DEFINE_bool(reads, true, "reads the answers; false: each connection stops after its requests");

namespace search::chaos {
namespace {

constexpr char kUsage[] =
    "floods one node with requests until its input ends\n\n"
    "  flood --port=7001 --method=Echo --connections=64";
constexpr int kConnectionCountMax = 4096;
constexpr int kInFlightMax = 10'000;
constexpr int64_t kRetryNs = 100'000'000;
constexpr int64_t kGarbageRetryNs = 1'000'000;
constexpr size_t kGarbageSize = 64;
constexpr int kPollMs = 20;
constexpr size_t kReadSize = 256 * 1024;

int64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

struct Totals {
  uint64_t answers = 0;
  uint64_t errors = 0;
  neptune::Histogram ns;
};

class Connection {
 public:
  Connection(const sockaddr_in& to, Totals& totals) : to_(to), totals_(totals) {}

  int descriptor() const { return socket_.number(); }
  short events() const {
    return static_cast<short>((FLAGS_reads ? POLLIN : 0) | (unsent_.empty() ? 0 : POLLOUT));
  }

  // Connects if it is not connected and the last attempt is long enough ago.
  void Connect() {
    if (socket_.open() || NowNs() < retry_ns_) return;
    socket_ = neptune::Descriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;
    setsockopt(socket_.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (connect(socket_.number(), reinterpret_cast<const sockaddr*>(&to_), sizeof(to_)) != 0 &&
        errno != EINPROGRESS) {
      return Lose();
    }
    if (FLAGS_garbage) {
      unsent_.assign(kGarbageSize, '?');
      return;
    }
    for (int i = 0; i < FLAGS_in_flight; ++i) Send();
  }

  void Handle(short events) {
    if ((events & POLLIN) != 0 && !Read()) return Lose();
    if ((events & POLLOUT) != 0 && !Write()) return Lose();
    if ((events & (POLLERR | POLLHUP)) != 0 && (events & POLLIN) == 0) Lose();
  }

 private:
  void Send() {
    neptune::RequestHeader header;
    header.service = neptune::ServiceName(FLAGS_service);
    header.partition = neptune::PartitionId(static_cast<uint32_t>(FLAGS_partition));
    header.method = neptune::MethodName(FLAGS_method);
    if (FLAGS_replicated) header.extension = neptune::EncodeReplicaDemand({});
    (void)neptune::AppendFrame(neptune::FrameType::kRequest, ++call_,
                               neptune::EncodeRequestHeader(header), FLAGS_request, &unsent_);
    sent_ns_[call_] = NowNs();
  }

  bool Write() {
    const ssize_t size = send(socket_.number(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
    if (size < 0) return errno == EAGAIN;
    unsent_.erase(0, static_cast<size_t>(size));
    return true;
  }

  bool Read() {
    static std::vector<char> bytes(kReadSize);
    const ssize_t size = recv(socket_.number(), bytes.data(), bytes.size(), 0);
    if (size <= 0) return size < 0 && errno == EAGAIN;
    decoder_->Feed({bytes.data(), static_cast<size_t>(size)});
    while (true) {
      auto frame = decoder_->NextView();
      if (!frame.ok()) return false;
      if (!frame->has_value()) return unsent_.empty() || Write();
      if ((*frame)->type == neptune::FrameType::kResponse) TakeAnswer(**frame);
    }
  }

  void TakeAnswer(const neptune::FrameView& frame) {
    const auto header = neptune::DecodeResponseHeader(frame.section);
    ++(header.ok() && header->status.ok() ? totals_.answers : totals_.errors);
    if (const auto sent = sent_ns_.find(frame.call); sent != sent_ns_.end()) {
      totals_.ns.Record(static_cast<uint64_t>(NowNs() - sent->second));
      sent_ns_.erase(sent);
    }
    Send();
  }

  void Lose() {
    totals_.errors += sent_ns_.size();
    socket_.Close();
    decoder_ = std::make_unique<neptune::FrameDecoder>();
    unsent_.clear();
    sent_ns_.clear();
    retry_ns_ = NowNs() + (FLAGS_garbage ? kGarbageRetryNs : kRetryNs);
  }

  const sockaddr_in to_;
  Totals& totals_;
  neptune::Descriptor socket_;
  std::unique_ptr<neptune::FrameDecoder> decoder_ = std::make_unique<neptune::FrameDecoder>();
  std::string unsent_;
  std::map<uint64_t, int64_t> sent_ns_;
  uint64_t call_ = 0;
  int64_t retry_ns_ = 0;
};

void Print(Totals& totals) {
  constexpr uint64_t kNsPerUs = 1000;
  std::printf("answers=%lu errors=%lu p50_us=%lu p99_us=%lu max_us=%lu\n",
              static_cast<unsigned long>(totals.answers), static_cast<unsigned long>(totals.errors),
              static_cast<unsigned long>(totals.ns.Percentile(0.5) / kNsPerUs),
              static_cast<unsigned long>(totals.ns.Percentile(0.99) / kNsPerUs),
              static_cast<unsigned long>(totals.ns.max() / kNsPerUs));
  std::fflush(stdout);
  totals = Totals();
}

// Answers each line of the input with the totals; returns false at its end.
bool HandleInput(Totals& totals) {
  char bytes[256];
  const ssize_t size = read(STDIN_FILENO, bytes, sizeof(bytes));
  if (size <= 0) return false;
  for (ssize_t i = 0; i < size; ++i) {
    if (bytes[i] == '\n') Print(totals);
  }
  return true;
}

neptune::Status Flood() {
  if (FLAGS_connections < 1 || FLAGS_connections > kConnectionCountMax || FLAGS_in_flight < 1 ||
      FLAGS_in_flight > kInFlightMax) {
    return neptune::InvalidArgument("--connections or --in_flight is out of range");
  }
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(FLAGS_port));
  if (inet_pton(AF_INET, FLAGS_address.c_str(), &to.sin_addr) != 1)
    return neptune::InvalidArgument("--address is not an IPv4 address");
  Totals totals;
  std::vector<std::unique_ptr<Connection>> connections;
  for (int i = 0; i < FLAGS_connections; ++i) {
    connections.push_back(std::make_unique<Connection>(to, totals));
  }
  std::printf("begin\n");
  std::fflush(stdout);
  std::vector<pollfd> watched(connections.size() + 1);
  while (true) {
    watched[0] = {STDIN_FILENO, POLLIN, 0};
    for (size_t i = 0; i < connections.size(); ++i) {
      connections[i]->Connect();
      watched[i + 1] = {connections[i]->descriptor(), connections[i]->events(), 0};
    }
    poll(watched.data(), watched.size(), kPollMs);
    if (watched[0].revents != 0 && !HandleInput(totals)) return neptune::OkStatus();
    for (size_t i = 0; i < connections.size(); ++i) {
      if (watched[i + 1].revents != 0) connections[i]->Handle(watched[i + 1].revents);
    }
  }
}

}  // namespace
}  // namespace search::chaos

int main(int argc, char** argv) {
  search::tools::ParseCommandLine(&argc, &argv, search::chaos::kUsage, __FILE__);
  signal(SIGPIPE, SIG_IGN);
  return search::tools::ExitStatus(search::chaos::Flood(), "flood");
}

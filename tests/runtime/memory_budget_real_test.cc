// A node on real loops whose peers ask for large answers and do not read them: it stays within its
// memory budget and serves the others.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/descriptor.h"
#include "neptune/base/strings.h"
#include "neptune/base/unique_port.h"
#include "neptune/node/cluster_spec.h"
#include "neptune/testing/real_node.h"
#include "neptune/testing/simulated_cluster.h"
#include "neptune/wire/frame.h"

namespace neptune {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kBudget = 128 * kMiB;

// A larger run: NEPTUNE_READERS=64 NEPTUNE_ANSWER_MIB=60 NEPTUNE_BUDGET_MIB=512.
size_t NumberOf(const char* name, size_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

size_t ResidentSize() {
  size_t pages = 0;
  size_t resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGE_SIZE));
}

class MemoryBudgetRealTest : public testing::Test {
 protected:
  NodeOptions OptionsOf(size_t budget) const {
    const auto spec = ParseClusterSpec(
        StrCat("name: 'memory-", port_.number(),
               "' multicast_group: '239.192.7.31:", port_.number(),
               "' services { name: 'echo' module: 'echo' } nodes { name: 's' memory_budget_mib: ",
               budget / kMiB, " hosts { service: 'echo' } }"),
        "test");
    EXPECT_TRUE(spec.ok()) << spec.status();
    NodeOptions options;
    options.spec = *spec;
    options.name = NodeId("s");
    options.modules = MakeEcho;
    return options;
  }

  Descriptor Connect() {
    Descriptor client(socket(AF_INET, SOCK_STREAM, 0));
    const Endpoint at = node_->node().call_endpoint();
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(at.address);
    to.sin_port = htons(at.port);
    EXPECT_EQ(connect(client.number(), reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
    const timeval patience{.tv_sec = 20, .tv_usec = 0};
    setsockopt(client.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(client.number(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    return client;
  }
  static std::string Request(size_t payload_size) {
    RequestHeader header;
    header.service = ServiceName("echo");
    header.method = MethodName("Echo");
    std::string bytes;
    EXPECT_TRUE(AppendFrame(FrameType::kRequest, 1, EncodeRequestHeader(header),
                            std::string(payload_size, 'x'), &bytes)
                    .ok());
    return bytes;
  }
  static bool SendAll(const Descriptor& client, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t size = send(client.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (size <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(size));
    }
    return true;
  }
  static StatusCode ReadAnswer(const Descriptor& client) {
    FrameDecoder decoder;
    char buffer[65536];
    while (true) {
      const auto frame = decoder.Next();
      if (!frame.ok()) return frame.status().code();
      if (frame->has_value() && (*frame)->type == FrameType::kResponse) {
        return DecodeResponseHeader((*frame)->section)->status.code();
      }
      if (frame->has_value()) continue;  // what the server understands
      const ssize_t size = recv(client.number(), buffer, sizeof(buffer), 0);
      if (size <= 0) return StatusCode::kUnavailable;
      decoder.Feed({buffer, static_cast<size_t>(size)});
    }
  }

  // Other runs on this machine hear other groups.
  const UniquePort port_;
  std::unique_ptr<RealNode> node_;
};

TEST_F(MemoryBudgetRealTest, ReadersThatStopKeepTheNodeWithinItsBudget) {
  const size_t reader_count = NumberOf("NEPTUNE_READERS", 24);
  const size_t answer_size = NumberOf("NEPTUNE_ANSWER_MIB", 20) * kMiB;
  const size_t budget = NumberOf("NEPTUNE_BUDGET_MIB", kBudget / kMiB) * kMiB;
  node_ = StartRealNode(OptionsOf(budget));
  const std::string large = Request(answer_size);
  const std::string small = Request(100);
  const size_t before = ResidentSize();
  size_t largest = 0;
  std::vector<Descriptor> readers;
  for (size_t i = 0; i < reader_count; ++i) {
    readers.push_back(Connect());
    EXPECT_TRUE(SendAll(readers.back(), large));
    const Descriptor good = Connect();
    EXPECT_TRUE(SendAll(good, small));
    EXPECT_EQ(ReadAnswer(good), StatusCode::kOk) << "beside " << i << " readers";
    largest = std::max(largest, ResidentSize() - std::min(before, ResidentSize()));
  }
  const auto refused = [&](const char* purpose) {
    return node_->node()
        .metrics()
        .Value("neptune_memory_refusals_total", {{"purpose", purpose}})
        .value();
  };
  const double refused_count = refused("requests") + refused("answers");
  std::printf("%zu readers: %zu MiB more resident of %zu, %.0f refused\n", reader_count,
              largest / kMiB, budget / kMiB, refused_count);
  EXPECT_GT(refused_count, reader_count / 2.0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LE(largest, budget + budget / 10);
#endif
}

}  // namespace
}  // namespace neptune

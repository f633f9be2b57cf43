// Streams between whole nodes: order, flow control, and how they end.

#include <gtest/gtest.h>

#include "neptune/base/strings.h"
#include "neptune/service/client_stream.h"
#include "neptune/testing/call_test_module.h"
#include "neptune/thread/user_thread.h"
#include "neptune/wire/message_stream_state.h"
#include "neptune/wire/server_connection.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class StreamTest : public testing::Test {
 protected:
  void Start(int node_count) {
    SimulatedClusterOptions options;
    options.spec = EchoSpec(node_count, 1);
    options.modules = CallTestModules(&records_);
    cluster_ = std::make_unique<SimulatedCluster>(std::move(options));
  }

  static std::unique_ptr<ClientStream> Open(ClientSession& session, const std::string& method,
                                            const std::string& request = "",
                                            Duration timeout = seconds(10)) {
    auto stream = OpenStream(session, ServiceName("echo"), PartitionId(0), MethodName(method),
                             Data(request), {.deadline = this_thread::Now() + timeout});
    EXPECT_TRUE(stream.ok()) << stream.status();
    return stream.ok() ? *std::move(stream) : nullptr;
  }
  void OnClient(std::function<void(ClientSession&)> body) {
    cluster_->RunOnClient(std::move(body));
  }

  Simulator& simulator() { return cluster_->simulator(); }
  HostRecord& server() { return records_["s0"]; }
  double Metric(const char* name, const MetricLabels& labels) {
    return *cluster_->node("s0").metrics().Value(name, labels);
  }

  HostRecords records_;
  std::unique_ptr<SimulatedCluster> cluster_;
};

TEST_F(StreamTest, RoundsOfInteractionKeepTheirOrder) {
  Start(1);
  OnClient([](ClientSession& session) {
    const auto stream = Open(session, "EchoMessages");
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(stream->Write(Data(StrCat("a", i))).ok());
      ASSERT_TRUE(stream->Write(Data(StrCat("b", i))).ok());
      EXPECT_EQ((**stream->Read()).bytes(), StrCat("a", i));
      EXPECT_EQ((**stream->Read()).bytes(), StrCat("b", i));
    }
    stream->EndWriting();
    EXPECT_FALSE(stream->Read()->has_value());
    EXPECT_TRUE(stream->Finish().ok());
    EXPECT_EQ(stream->report().server, NodeId("s0"));
  });
  const MetricLabels method = {{"service", "echo"}, {"method", "EchoMessages"}};
  MetricLabels read = method;
  read.emplace_back("direction", "read");
  EXPECT_EQ(Metric("neptune_stream_messages_total", read), 200);
  EXPECT_EQ(Metric("neptune_load_index", {{"service", "echo"}}), 0);
}

TEST_F(StreamTest, WriterWaitsForAReaderThatDoesNotRead) {
  Start(1);
  const std::string message(10'000, 'x');
  int written = 0;
  Status finished = Unavailable("not done");
  cluster_->SpawnOnClient([&](ClientSession& session) {
    const auto stream = Open(session, "Hold", "1000");
    for (; written < 200; ++written) ASSERT_TRUE(stream->Write(Data(message)).ok());
    finished = stream->Finish();
  });
  simulator().RunFor(milliseconds(900));
  EXPECT_EQ(written, static_cast<int>(kMessageWindowSize / message.size()) + 1);
  simulator().RunFor(seconds(1));
  EXPECT_TRUE(finished.ok()) << finished;
  EXPECT_EQ(server().messages, 200);
}

TEST_F(StreamTest, ServerWaitsForACallerThatDoesNotRead) {
  Start(1);
  OnClient([this](ClientSession& session) {
    const auto stream = Open(session, "Pour", "1000");
    this_thread::SleepFor(milliseconds(500));
    const int stopped_at = server().messages;
    EXPECT_LE(stopped_at, static_cast<int>(kMessageWindowSize / 1000) + 2);
    for (int i = 0; i < 10 * stopped_at; ++i) ASSERT_TRUE(stream->Read()->has_value());
    EXPECT_GT(server().messages, 10 * stopped_at);
  });
  simulator().RunFor(milliseconds(50));
  EXPECT_EQ(server().stream_end, StatusCode::kCancelled) << "its owner is gone";
}

TEST_F(StreamTest, OtherCallsGoOnBesideAStreamThatStands) {
  Start(1);
  OnClient([this](ClientSession& session) {
    const auto stream = Open(session, "Pour", "1000000");
    this_thread::SleepFor(milliseconds(100));
    const TimePoint begin = this_thread::Now();
    Data response;
    EXPECT_TRUE(Call(session,
                     {ServiceName("echo"), PartitionId(0), MethodName("Name"), AccessMode::kRead},
                     Data(), &response)
                    .ok());
    EXPECT_LT(this_thread::Now() - begin, milliseconds(20));
  });
}

TEST_F(StreamTest, ErrorOfTheMethodComesAfterItsMessages) {
  Start(1);
  OnClient([](ClientSession& session) {
    const auto stream = Open(session, "Refuse");
    EXPECT_TRUE(stream->Write(Data("x")).ok());
    EXPECT_EQ(stream->Read().status().code(), StatusCode::kFailedPrecondition);
    EXPECT_EQ(stream->Write(Data("y")).code(), StatusCode::kFailedPrecondition);
    EXPECT_EQ(stream->Finish().code(), StatusCode::kFailedPrecondition);
  });
}

TEST_F(StreamTest, DroppedStreamEndsTheMethod) {
  Start(1);
  OnClient([](ClientSession& session) {
    const auto stream = Open(session, "Hold", "3600000");
    this_thread::SleepFor(milliseconds(20));
  });
  simulator().RunFor(milliseconds(20));
  EXPECT_EQ(server().running, 0);
  EXPECT_EQ(server().stream_end, StatusCode::kCancelled);
}

TEST_F(StreamTest, LostCallerEndsTheMethod) {
  Start(1);
  cluster_->SpawnOnClient([](ClientSession& session) {
    const auto stream = Open(session, "EchoMessages");
    EXPECT_FALSE(stream->Read().ok());
  });
  simulator().RunFor(milliseconds(20));
  EXPECT_EQ(Metric("neptune_load_index", {{"service", "echo"}}), 1) << "an open stream is load";
  simulator().Crash("c", CrashKind::kProcess);
  simulator().RunFor(milliseconds(50));
  EXPECT_EQ(Metric("neptune_load_index", {{"service", "echo"}}), 0);
}

TEST_F(StreamTest, LostServerEndsTheStream) {
  Start(1);
  Status read;
  cluster_->SpawnOnClient([&](ClientSession& session) {
    const auto stream = Open(session, "EchoMessages");
    read = stream->Read().status();
  });
  simulator().RunFor(milliseconds(20));
  simulator().Crash("s0", CrashKind::kProcess);
  simulator().RunFor(milliseconds(50));
  EXPECT_EQ(read.code(), StatusCode::kUnavailable);
}

TEST_F(StreamTest, DeadlineEndsBothEnds) {
  Start(1);
  OnClient([](ClientSession& session) {
    const auto stream = Open(session, "Hold", "0", milliseconds(100));
    const TimePoint begin = this_thread::Now();
    EXPECT_EQ(stream->Read().status().code(), StatusCode::kDeadlineExceeded);
    EXPECT_LT(this_thread::Now() - begin, milliseconds(101));
  });
  simulator().RunFor(milliseconds(50));
  EXPECT_EQ(server().running, 0);
}

TEST_F(StreamTest, StreamsGoToLivingReplicasAndAreRefusedByName) {
  Start(2);
  simulator().Crash("s0", CrashKind::kProcess);
  OnClient([](ClientSession& session) {
    for (int i = 0; i < 5; ++i) {
      const auto stream = Open(session, "EchoMessages");
      EXPECT_TRUE(stream->Write(Data("x")).ok());
      EXPECT_TRUE(stream->Finish().ok());
    }
    EXPECT_EQ(Open(session, "Nothing")->Finish().code(), StatusCode::kUnimplemented);
    EXPECT_EQ(Open(session, "Name")->Finish().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(Open(session, "Write")->Finish().code(), StatusCode::kInvalidArgument)
        << "only reads are streams";
    Data response;
    EXPECT_EQ(
        Call(session,
             {ServiceName("echo"), PartitionId(0), MethodName("EchoMessages"), AccessMode::kRead},
             Data(), &response)
            .code(),
        StatusCode::kInvalidArgument);
    EXPECT_EQ(OpenStream(session, ServiceName("nobody"), PartitionId(0), MethodName("x"), Data())
                  .status()
                  .code(),
              StatusCode::kUnavailable);
  });
}

TEST_F(StreamTest, StreamsOverTheLimitAreRefused) {
  Start(1);
  OnClient([](ClientSession& session) {
    const size_t limit = FrameServerOptions().stream_count_max;
    std::vector<std::unique_ptr<ClientStream>> streams;
    for (size_t i = 0; i < limit; ++i) streams.push_back(Open(session, "EchoMessages"));
    EXPECT_EQ(Open(session, "EchoMessages")->Finish().code(), StatusCode::kResourceExhausted);
    for (const auto& stream : streams) EXPECT_TRUE(stream->Finish().ok());
    EXPECT_TRUE(Open(session, "EchoMessages")->Finish().ok()) << "there is room again";
  });
}

TEST_F(StreamTest, MessageOverTheLimitIsAnErrorOfItsWriteOnly) {
  Start(1);
  OnClient([](ClientSession& session) {
    const auto stream = Open(session, "EchoMessages");
    EXPECT_EQ(stream->Write(Data(std::string(kMessageSizeMax + 1, 'x'))).code(),
              StatusCode::kInvalidArgument);
    EXPECT_TRUE(stream->Write(Data(std::string(kMessageSizeMax, 'x'))).ok());
    EXPECT_EQ((**stream->Read()).bytes().size(), kMessageSizeMax);
    EXPECT_TRUE(stream->Finish().ok());
  });
}

TEST_F(StreamTest, StopOfTheServerEndsItsStreams) {
  Start(1);
  Status read;
  cluster_->SpawnOnClient([&](ClientSession& session) {
    const auto stream = Open(session, "EchoMessages", "", seconds(60));
    read = stream->Read().status();
  });
  simulator().RunFor(milliseconds(50));
  bool stopped = false;
  cluster_->node("s0").Stop(milliseconds(200), [&] { stopped = true; });
  simulator().RunFor(seconds(2));
  EXPECT_TRUE(stopped);
  EXPECT_EQ(read.code(), StatusCode::kCancelled);
}

}  // namespace
}  // namespace neptune

// The world conformance suite, part 2: streams and listeners.

#include <memory>
#include <string>
#include <vector>

#include "neptune/world/world_conformance.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Returns bytes in which loss, repetition or reordering is visible.
std::string Pattern(size_t size) {
  std::string bytes(size, '\0');
  uint32_t state = 12345;
  for (char& byte : bytes) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<char>(state >> 24);
  }
  return bytes;
}

struct ConnectOutcome {
  int count = 0;
  Status status;
  std::unique_ptr<Stream> stream;

  Network::ConnectHandler Handler() {
    return [this](StatusOr<std::unique_ptr<Stream>> result) {
      ++count;
      status = result.status();
      if (result.ok()) stream = *std::move(result);
    };
  }
};

TEST_P(WorldConformanceTest, StreamEchoesLargeData) {
  const std::string sent = Pattern(8 << 20);
  StreamPair& pair = MakePair();
  Run([&] {
    pair.server_events.on_data = [&](std::string_view bytes) {
      pair.server->Write(std::string(bytes));
    };
    pair.Start();
    pair.client->Write(sent);
  });
  ASSERT_TRUE(Until([&] { return pair.client_events.data.size() >= sent.size(); }));
  Run([&] { EXPECT_TRUE(pair.client_events.data == sent); });
}

TEST_P(WorldConformanceTest, StreamKeepsTheOrderOfManySmallWrites) {
  std::string sent;
  StreamPair& pair = MakePair();
  Run([&] {
    pair.Start();
    for (int i = 0; i < 2000; ++i) {
      const std::string piece = std::to_string(i) + ",";
      sent += piece;
      pair.client->Write(piece);
    }
  });
  ASSERT_TRUE(Until([&] { return pair.server_events.data.size() >= sent.size(); }));
  Run([&] { EXPECT_EQ(pair.server_events.data, sent); });
}

// Whichever way bytes are written, and however many are unsent.
TEST_P(WorldConformanceTest, StreamKeepsTheOrderOfWritesOfAllKinds) {
  std::string sent;
  StreamPair& pair = MakePair();
  Run([&] {
    pair.Start();
    for (int i = 0; i < 600; ++i) {
      std::string piece = std::to_string(i) + ",";
      if (i % 50 == 0) piece += Pattern(100'000);
      sent += piece;
      if (i % 3 == 0) {
        pair.client->Write(piece);
      } else if (i % 3 == 1) {
        pair.client->WriteWith([&](std::string* out) { *out += piece; });
      } else {
        std::string buffer = pair.client->TakeBuffer();
        EXPECT_EQ(buffer, "");
        buffer += piece;
        pair.client->Write(std::move(buffer));
      }
    }
  });
  ASSERT_TRUE(Until([&] { return pair.server_events.data.size() >= sent.size(); }));
  Run([&] {
    EXPECT_TRUE(pair.server_events.data == sent);
    pair.client->WriteWith([](std::string* out) { *out += "again"; });
  });
  EXPECT_TRUE(Until([&] { return pair.server_events.data.ends_with("again"); }));
}

TEST_P(WorldConformanceTest, ManyStreamsWorkAtOnce) {
  constexpr int kStreams = 100;
  std::vector<StreamPair*> pairs;
  for (int i = 0; i < kStreams; ++i) pairs.push_back(&MakePair());
  Run([&] {
    for (StreamPair* pair : pairs) {
      pair->Start();
      pair->client->Write(std::string(1000, 'x'));
    }
  });
  EXPECT_TRUE(Until([&] {
    for (StreamPair* pair : pairs) {
      if (pair->server_events.data.size() < 1000) return false;
    }
    return true;
  }));
}

TEST_P(WorldConformanceTest, PeerNamesTheOtherEnd) {
  StreamPair& pair = MakePair();
  Run([&] {
    EXPECT_EQ(pair.client->peer(), pair.listener->local());
    EXPECT_EQ(pair.server->peer().address, kLoopbackAddress);
    EXPECT_NE(pair.server->peer().port, 0);
  });
}

TEST_P(WorldConformanceTest, DataBeforeStartIsKept) {
  StreamPair& pair = MakePair();
  Run([&] {
    pair.client->Start(&pair.client_events);
    pair.client->Write("early");
  });
  Pass(milliseconds(2));
  Run([&] { pair.server->Start(&pair.server_events); });
  EXPECT_TRUE(Until([&] { return pair.server_events.data == "early"; }));
}

TEST_P(WorldConformanceTest, EndBeforeStartIsReportedAfterStart) {
  StreamPair& pair = MakePair();
  Run([&] { pair.client.reset(); });
  Pass(milliseconds(2));
  Run([&] { pair.server->Start(&pair.server_events); });
  EXPECT_TRUE(Until([&] { return pair.server_events.closed_count == 1; }));
}

TEST_P(WorldConformanceTest, PeerSeesOrderlyEndAfterAllData) {
  StreamPair& pair = MakePair();
  Run([&] {
    pair.Start();
    pair.client->Write("last words");
    pair.client->Close();
  });
  ASSERT_TRUE(Until([&] { return pair.server_events.closed_count > 0; }));
  Pass(milliseconds(2));
  Run([&] {
    EXPECT_EQ(pair.server_events.data, "last words");
    EXPECT_EQ(pair.server_events.closed_count, 1);
    EXPECT_TRUE(pair.server_events.reason.ok()) << pair.server_events.reason;
  });
}

TEST_P(WorldConformanceTest, CloseThenDestroySendsEverythingQueued) {
  const std::string sent = Pattern(4 << 20);
  StreamPair& pair = MakePair();
  Run([&] {
    pair.Start();
    pair.client->Write(sent);
    pair.client->Close();
    pair.client.reset();
  });
  ASSERT_TRUE(Until([&] { return pair.server_events.closed_count > 0; }));
  Run([&] {
    EXPECT_TRUE(pair.server_events.data == sent) << pair.server_events.data.size();
    EXPECT_TRUE(pair.server_events.reason.ok()) << pair.server_events.reason;
  });
}

TEST_P(WorldConformanceTest, NothingFollowsTheOwnersClose) {
  StreamPair& pair = MakePair();
  Run([&] {
    pair.Start();
    pair.client->Close();
    pair.server->Write("too late");
  });
  ASSERT_TRUE(Until([&] { return pair.server_events.closed_count > 0; }));
  Pass(milliseconds(2));
  Run([&] {
    EXPECT_EQ(pair.client_events.closed_count, 0);
    EXPECT_EQ(pair.client_events.data_count, 0);
  });
}

TEST_P(WorldConformanceTest, WritingAfterTheEndIsHarmless) {
  StreamPair& pair = MakePair();
  Run([&] {
    pair.Start();
    pair.client.reset();
  });
  ASSERT_TRUE(Until([&] { return pair.server_events.closed_count > 0; }));
  Run([&] {
    pair.server->Write("unread");
    pair.server->SetReading(false);
    pair.server->SetReading(true);
    pair.server->Close();
  });
  Pass(milliseconds(2));
  Run([&] { EXPECT_EQ(pair.server_events.closed_count, 1); });
}

TEST_P(WorldConformanceTest, WriterLearnsThatThePeerIsGone) {
  StreamPair& pair = MakePair();
  Run([&] {
    pair.Start();
    pair.server.reset();
    pair.client->Write(std::string(1 << 20, 'x'));
  });
  ASSERT_TRUE(Until([&] { return pair.client_events.closed_count > 0; }));
  Pass(milliseconds(2));
  Run([&] { EXPECT_EQ(pair.client_events.closed_count, 1); });
}

TEST_P(WorldConformanceTest, StreamDestroyedInsideOnData) {
  StreamPair& pair = MakePair();
  Run([&] {
    pair.server_events.on_data = [&](std::string_view) { pair.server.reset(); };
    pair.Start();
    pair.client->Write(std::string(1 << 20, 'x'));
  });
  ASSERT_TRUE(Until([&] { return pair.client_events.closed_count > 0; }));
  Run([&] { EXPECT_EQ(pair.server_events.data_count, 1); });
}

TEST_P(WorldConformanceTest, StreamClosedInsideOnDataHearsNoMore) {
  StreamPair& pair = MakePair();
  Run([&] {
    pair.server_events.on_data = [&](std::string_view) { pair.server->Close(); };
    pair.Start();
    pair.client->Write(std::string(1 << 20, 'x'));
  });
  ASSERT_TRUE(Until([&] { return pair.client_events.closed_count > 0; }));
  Run([&] { EXPECT_EQ(pair.server_events.data_count, 1); });
}

TEST_P(WorldConformanceTest, StreamDestroyedInsideOnClosed) {
  StreamPair& pair = MakePair();
  Run([&] {
    pair.server_events.on_closed = [&] { pair.server.reset(); };
    pair.Start();
    pair.client.reset();
  });
  ASSERT_TRUE(Until([&] { return pair.server_events.closed_count > 0; }));
  Run([&] { EXPECT_EQ(pair.server, nullptr); });
}

TEST_P(WorldConformanceTest, StreamDestroyedInsideOnDrained) {
  StreamPair& pair = MakePair();
  Run([&] {
    pair.client_events.on_drained = [&] { pair.client.reset(); };
    pair.Start();
    pair.client->Write(std::string(16 << 20, 'x'));
  });
  EXPECT_TRUE(Until([&] { return pair.server_events.closed_count > 0; }));
}

TEST_P(WorldConformanceTest, StreamDroppedInTheAcceptHandlerEndsAtThePeer) {
  auto& outcome = Make<ConnectOutcome>();
  auto& events = Make<StreamRecorder>();
  auto& listener = Make<std::unique_ptr<Listener>>();
  Run([&] {
    listener = ListenAnywhere([](std::unique_ptr<Stream>) {});
    loop().network().Connect(listener->local(), In(seconds(20)), outcome.Handler());
  });
  ASSERT_TRUE(Until([&] { return outcome.count == 1; }));
  Run([&] {
    if (outcome.stream != nullptr) outcome.stream->Start(&events);
  });
  EXPECT_TRUE(Until([&] { return outcome.stream == nullptr || events.closed_count == 1; }));
  Run([&] { outcome.stream.reset(); });
}

TEST_P(WorldConformanceTest, WriterIsHeldBackByAPeerThatDoesNotRead) {
  constexpr size_t kSize = 32 << 20;
  StreamPair& pair = MakePair();
  Run([&] {
    pair.Start();
    pair.server->SetReading(false);
    pair.client->Write(std::string(kSize, 'x'));
  });
  Pass(milliseconds(20));
  Run([&] {
    EXPECT_GT(pair.client->unsent_size(), 0u);
    EXPECT_EQ(pair.client_events.drained_count, 0);
    EXPECT_LE(pair.server_events.data_count, 1);  // the read in progress when reading stopped
    pair.server->SetReading(true);
  });
  ASSERT_TRUE(Until([&] { return pair.server_events.data.size() == kSize; }));
  ASSERT_TRUE(Until([&] { return pair.client_events.drained_count > 0; }));
  Run([&] { EXPECT_EQ(pair.client->unsent_size(), 0u); });
}

TEST_P(WorldConformanceTest, ReadingStopsAndResumes) {
  StreamPair& pair = MakePair();
  Run([&] {
    pair.Start();
    pair.server_events.on_data = [&](std::string_view) { pair.server->SetReading(false); };
    pair.client->Write("one");
  });
  ASSERT_TRUE(Until([&] { return pair.server_events.data_count > 0; }));
  Run([&] { pair.client->Write("two"); });
  Pass(milliseconds(3));
  Run([&] {
    EXPECT_EQ(pair.server_events.data_count, 1);
    pair.server_events.on_data = nullptr;
    pair.server->SetReading(true);
    EXPECT_EQ(pair.server_events.data_count, 1) << "no event inside SetReading";
  });
  EXPECT_TRUE(Until([&] { return pair.server_events.data == "onetwo"; }));
}

TEST_P(WorldConformanceTest, ConnectToAClosedPortIsRefused) {
  auto& outcome = Make<ConnectOutcome>();
  Run([&] {
    Endpoint free;
    {
      const auto listener = ListenAnywhere([](std::unique_ptr<Stream>) {});
      free = listener->local();
    }
    loop().network().Connect(free, In(seconds(20)), outcome.Handler());
    EXPECT_EQ(outcome.count, 0) << "no answer inside the call";
  });
  ASSERT_TRUE(Until([&] { return outcome.count > 0; }));
  Run([&] { EXPECT_EQ(outcome.status.code(), StatusCode::kUnavailable) << outcome.status; });
}

// A writer that saw unsent bytes and paused must be notified when they are gone.
TEST_P(WorldConformanceTest, DrainIsReportedWheneverUnsentBytesWereSeen) {
  StreamPair& pair = MakePair();
  Run([&] { pair.Start(); });
  int expected = 0;
  for (const size_t size : {size_t{8}, size_t{1} << 20}) {
    Run([&] {
      pair.client->Write(std::string(size, 'x'));
      if (pair.client->unsent_size() > 0) ++expected;
    });
    ASSERT_TRUE(Until([&] { return pair.client_events.drained_count == expected; })) << size;
    Run([&] { EXPECT_EQ(pair.client->unsent_size(), 0u); });
  }
}

TEST_P(WorldConformanceTest, ConnectEndsAtItsDeadline) {
  auto& outcome = Make<ConnectOutcome>();
  auto& listener = Make<std::unique_ptr<Listener>>();
  Run([&] {
    listener = ListenAnywhere([](std::unique_ptr<Stream>) {});
    loop().network().Connect(listener->local(), In(-milliseconds(1)), outcome.Handler());
    EXPECT_EQ(outcome.count, 0) << "no answer inside the call";
  });
  ASSERT_TRUE(Until([&] { return outcome.count > 0; }));
  Pass(milliseconds(3));
  Run([&] {
    EXPECT_EQ(outcome.count, 1);
    EXPECT_EQ(outcome.status.code(), StatusCode::kDeadlineExceeded) << outcome.status;
  });
}

TEST_P(WorldConformanceTest, ListeningOnATakenPortIsRefused) {
  auto& first = Make<std::unique_ptr<Listener>>();
  Run([&] {
    first = ListenAnywhere([](std::unique_ptr<Stream>) {});
    EXPECT_NE(first->local().port, 0);
    const auto second = loop().network().Listen(first->local(), {}, [](std::unique_ptr<Stream>) {});
    EXPECT_EQ(second.status().code(), StatusCode::kInvalidArgument) << second.status();
  });
}

TEST_P(WorldConformanceTest, ListeningOnAForeignAddressIsRefused) {
  Run([&] {
    const Endpoint documentation_only = {0xc0000201, 0};  // 192.0.2.1, RFC 5737
    const auto listener =
        loop().network().Listen(documentation_only, {}, [](std::unique_ptr<Stream>) {});
    EXPECT_EQ(listener.status().code(), StatusCode::kInvalidArgument) << listener.status();
  });
}

TEST_P(WorldConformanceTest, ListenerDestroyedInItsAcceptHandler) {
  auto& listener = Make<std::unique_ptr<Listener>>();
  auto& server = Make<std::unique_ptr<Stream>>();
  auto& outcome = Make<ConnectOutcome>();
  Run([&] {
    listener = ListenAnywhere([&](std::unique_ptr<Stream> stream) {
      server = std::move(stream);
      listener.reset();
    });
    loop().network().Connect(listener->local(), In(seconds(20)), outcome.Handler());
  });
  ASSERT_TRUE(Until([&] { return outcome.count == 1 && server != nullptr; }));
  Run([&] { EXPECT_TRUE(outcome.status.ok()) << outcome.status; });
}

TEST_P(WorldConformanceTest, LoopsThatShareAPortEachAcceptAShare) {
  constexpr int kStreams = 64;
  Loop& other = StartLoop("other");
  struct Acceptor {
    std::unique_ptr<Listener> listener;
    std::vector<std::unique_ptr<Stream>> streams;
  };
  auto& here = Make<Acceptor>();
  auto& there = Keep(other, std::make_shared<Acceptor>());
  auto& outcomes = Make<std::vector<ConnectOutcome>>(kStreams);
  const auto listen = [](Loop& on, const Endpoint& at, Acceptor& acceptor) {
    auto listener = on.network().Listen(
        at, {.share_port = true},
        [&](std::unique_ptr<Stream> stream) { acceptor.streams.push_back(std::move(stream)); });
    ASSERT_TRUE(listener.ok()) << listener.status();
    acceptor.listener = *std::move(listener);
  };
  Endpoint shared;
  Run([&] {
    listen(loop(), {kLoopbackAddress, 0}, here);
    shared = here.listener->local();
  });
  RunOn(other, [&] { listen(other, shared, there); });
  Run([&] {
    for (ConnectOutcome& outcome : outcomes) {
      loop().network().Connect(shared, In(seconds(20)), outcome.Handler());
    }
  });
  for (ConnectOutcome& outcome : outcomes) {
    ASSERT_TRUE(Until([&] { return outcome.count == 1; }));
    Run([&] { EXPECT_TRUE(outcome.status.ok()) << outcome.status; });
  }
  EXPECT_TRUE(Until([&] { return !here.streams.empty(); }));
  EXPECT_TRUE(UntilOn(other, [&] { return !there.streams.empty(); }));
}

}  // namespace
}  // namespace neptune

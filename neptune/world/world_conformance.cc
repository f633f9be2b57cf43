#include "neptune/world/world_conformance.h"

#include <glog/logging.h>

#include <algorithm>

#include "absl/time/time.h"
#include "neptune/base/notification.h"

namespace neptune {

// A binary that links the suite but does not instantiate it reports that error itself.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WorldConformanceTest);

namespace {

constexpr Duration kLimit = std::chrono::seconds(30);
constexpr Duration kPollInterval = std::chrono::milliseconds(1);
// Larger than any limit of a test: exceeded only by a loop that does not run at all.
constexpr absl::Duration kStuckLimit = absl::Seconds(120);

// Evaluates a condition on a loop repeatedly until it is true.
struct Poll : std::enable_shared_from_this<Poll> {
  Loop* loop = nullptr;
  std::function<bool()> done;
  TimePoint deadline;
  bool result = false;
  Notification answered;

  void Ask() {
    result = done();
    if (result || loop->Now() >= deadline) {
      done = nullptr;
      answered.Notify();
      return;
    }
    loop->RunAt(loop->Now() + kPollInterval, [self = shared_from_this()] { self->Ask(); });
  }
};

}  // namespace

void ThreadedHarness::Run(Loop& loop, std::function<void()> work) {
  auto ran = std::make_shared<Notification>();
  loop.Post([work = std::move(work), ran] {
    work();
    ran->Notify();
  });
  CHECK(ran->WaitForNotificationWithTimeout(kStuckLimit)) << "the loop does not run";
}

bool ThreadedHarness::RunUntil(Loop& loop, std::function<bool()> done, Duration limit) {
  auto poll = std::make_shared<Poll>();
  poll->loop = &loop;
  poll->done = std::move(done);
  loop.Post([poll, limit] {
    poll->deadline = poll->loop->Now() + limit;
    poll->Ask();
  });
  CHECK(poll->answered.WaitForNotificationWithTimeout(kStuckLimit)) << "the loop does not run";
  return poll->result;
}

void StreamRecorder::OnData(std::string_view bytes) {
  ++data_count;
  data += bytes;
  if (on_data) on_data(bytes);
}

void StreamRecorder::OnClosed(const Status& why) {
  ++closed_count;
  reason = why;
  if (on_closed) on_closed();
}

void StreamRecorder::OnDrained() {
  ++drained_count;
  if (on_drained) on_drained();
}

void StreamPair::Start() {
  client->Start(&client_events);
  server->Start(&server_events);
}

void WorldConformanceTest::SetUp() {
  harness_ = GetParam().make();
  loop_ = &StartLoop("test");
}

void WorldConformanceTest::TearDown() {
  for (Kept& kept : kept_) {
    harness_->Run(*kept.loop, [&kept] { kept.object.reset(); });
  }
  world().Stop();
}

Loop& WorldConformanceTest::StartLoop(const std::string& name) {
  StatusOr<Loop*> started = world().StartLoop({.name = name});
  CHECK(started.ok()) << started.status();
  return **started;
}

bool WorldConformanceTest::UntilOn(Loop& on, std::function<bool()> done) {
  return harness_->RunUntil(on, std::move(done), kLimit);
}

void WorldConformanceTest::Pass(Duration duration) {
  bool& passed = Make<bool>(false);
  Run([&] { loop().RunAt(In(duration), [&passed] { passed = true; }); });
  ASSERT_TRUE(Until([&] { return passed; }));
}

std::unique_ptr<Listener> WorldConformanceTest::ListenAnywhere(Network::AcceptHandler on_accept) {
  auto listener = loop().network().Listen({kLoopbackAddress, 0}, {}, std::move(on_accept));
  CHECK(listener.ok()) << listener.status();
  return *std::move(listener);
}

StreamPair& WorldConformanceTest::MakePair() {
  StreamPair& pair = Make<StreamPair>();
  Run([&] {
    pair.listener =
        ListenAnywhere([&](std::unique_ptr<Stream> stream) { pair.server = std::move(stream); });
    loop().network().Connect(pair.listener->local(), In(kLimit),
                             [&](StatusOr<std::unique_ptr<Stream>> stream) {
                               CHECK(stream.ok()) << stream.status();
                               pair.client = *std::move(stream);
                             });
  });
  CHECK(Until([&] { return pair.client != nullptr && pair.server != nullptr; }));
  return pair;
}

uint16_t WorldConformanceTest::FreeDatagramPort() {
  uint16_t port = 0;
  Run([&] {
    auto socket = loop().network().OpenDatagram({.bind = {kLoopbackAddress, 0}},
                                                [](const Endpoint&, std::string_view) {});
    CHECK(socket.ok()) << socket.status();
    port = (*socket)->local().port;
  });
  return port;
}

}  // namespace neptune

// The behaviour every World must show: one suite of tests, instantiated for each world.
//
//   INSTANTIATE_TEST_SUITE_P(Real, WorldConformanceTest, testing::Values(WorldVariant{
//       "real", [] { return std::make_unique<ThreadedHarness>(MakeRealWorld()); }}));
//
// Binaries that link //neptune/world:world_conformance contain the tests. All state of a test
// belongs to one loop and is changed and read on that loop only, so the same test is free of races
// on kernel threads and free of waiting in virtual time.
//
// Source: style guide (a conformance suite per interface).
// Threads: the harness is used on the test's thread.
// Units: limits are in world time and generous; a passing test does not wait for them.

#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "neptune/world/loop.h"
#include "neptune/world/network.h"
#include "neptune/world/world.h"

namespace neptune {

// Drives a world from a test: the only part that differs between the worlds.
class WorldHarness {
 public:
  virtual ~WorldHarness() = default;
  virtual World& world() = 0;
  // Runs `work` on `loop` and returns after it has run.
  virtual void Run(Loop& loop, std::function<void()> work) = 0;
  // Lets the world run until `done`, evaluated on `loop`, is true; returns false if it is not
  // within `limit`.
  virtual bool RunUntil(Loop& loop, std::function<bool()> done, Duration limit) = 0;
};

// Harness for worlds whose loops run by themselves, on kernel threads.
class ThreadedHarness : public WorldHarness {
 public:
  explicit ThreadedHarness(std::unique_ptr<World> world) : world_(std::move(world)) {}

  World& world() override { return *world_; }
  void Run(Loop& loop, std::function<void()> work) override;
  bool RunUntil(Loop& loop, std::function<bool()> done, Duration limit) override;

 private:
  std::unique_ptr<World> world_;
};

struct WorldVariant {
  std::string name;
  std::function<std::unique_ptr<WorldHarness>()> make;

  friend std::ostream& operator<<(std::ostream& out, const WorldVariant& variant) {
    return out << variant.name;
  }
};

// Records a stream's events and lets a test react to them.
class StreamRecorder : public StreamHandler {
 public:
  void OnData(std::string_view bytes) override;
  void OnClosed(const Status& reason) override;
  void OnDrained() override;

  std::string data;
  int data_count = 0;
  int closed_count = 0;
  int drained_count = 0;
  Status reason;
  std::function<void(std::string_view)> on_data;
  std::function<void()> on_closed;
  std::function<void()> on_drained;
};

// The two ends of one stream, both on the test's loop; not started.
struct StreamPair {
  std::unique_ptr<Listener> listener;
  StreamRecorder client_events;
  StreamRecorder server_events;
  std::unique_ptr<Stream> client;
  std::unique_ptr<Stream> server;

  void Start();
};

class WorldConformanceTest : public testing::TestWithParam<WorldVariant> {
 protected:
  void SetUp() override;
  void TearDown() override;

  World& world() { return harness_->world(); }
  Loop& loop() { return *loop_; }
  Loop& StartLoop(const std::string& name);

  void Run(std::function<void()> work) { harness_->Run(loop(), std::move(work)); }
  void RunOn(Loop& on, std::function<void()> work) { harness_->Run(on, std::move(work)); }
  // `done` is evaluated on the test's loop.
  bool Until(std::function<bool()> done) { return UntilOn(loop(), std::move(done)); }
  bool UntilOn(Loop& on, std::function<bool()> done);
  // Lets `duration` of world time pass.
  void Pass(Duration duration);

  // Keeps an object until the end of the test, then destroys it on its loop.
  template <typename T>
  T& Keep(Loop& on, std::shared_ptr<T> object) {
    kept_.push_back({&on, object});
    return *object;
  }
  template <typename T, typename... Args>
  T& Make(Args&&... args) {
    return Keep(loop(), std::make_shared<T>(std::forward<Args>(args)...));
  }

  // Listens on a free loopback port of the test's loop. Call it on that loop.
  std::unique_ptr<Listener> ListenAnywhere(Network::AcceptHandler on_accept);
  // Makes a connected pair.
  StreamPair& MakePair();
  // Returns a loopback datagram port that is currently unused.
  uint16_t FreeDatagramPort();
  TimePoint In(Duration duration) { return loop().Now() + duration; }

 private:
  struct Kept {
    Loop* loop;
    std::shared_ptr<void> object;
  };

  std::unique_ptr<WorldHarness> harness_;
  Loop* loop_ = nullptr;
  std::vector<Kept> kept_;
};

}  // namespace neptune

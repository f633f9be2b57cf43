// Streams under random faults: whatever happens to hosts and links, a reader sees a prefix of what
// was written, and all of it if it gets an orderly end.

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neptune/world/faults/fault_draw.h"
#include "neptune/world/sim/sim_faults.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint16_t kPort = 80;
constexpr int kHosts = 5;

// What is known of the streams of a run over all nodes; survives every crash.
struct Ledger {
  struct Entry {
    uint64_t written = 0;
    bool closed = false;  // closed in order by its writer
  };
  std::vector<Entry> entries;
  uint64_t read_size = 0;
  int whole_count = 0;
  int broken_count = 0;
};

char ByteAt(uint64_t stream, uint64_t offset) {
  return static_cast<char>((stream * 131 + offset * 7 + (offset >> 8)) & 0xff);
}

// Checks what one stream delivers. The first bytes identify the stream.
class Reader : public StreamHandler {
 public:
  Reader(Loop& loop, Ledger& ledger, std::unique_ptr<Stream> stream)
      : loop_(loop), ledger_(ledger), stream_(std::move(stream)) {
    stream_->Start(this);
  }

  void OnData(std::string_view bytes) override {
    for (const char byte : bytes) Take(byte);
    ledger_.read_size += bytes.size();
    if (loop_.random().Below(4) != 0) return;
    stream_->SetReading(false);
    loop_.RunAt(loop_.Now() + milliseconds(loop_.random().Below(20)), [this] {
      if (stream_ != nullptr) stream_->SetReading(true);
    });
  }

  void OnClosed(const Status& reason) override {
    stream_.reset();
    ++(reason.ok() ? ledger_.whole_count : ledger_.broken_count);
    if (!reason.ok() || name_.size() < sizeof(uint32_t)) return;
    const Ledger::Entry& entry = ledger_.entries[stream_id_];
    EXPECT_TRUE(entry.closed);
    EXPECT_EQ(offset_, entry.written);
  }

 private:
  void Take(char byte) {
    if (name_.size() < sizeof(uint32_t)) {
      name_ += byte;
      if (name_.size() == sizeof(uint32_t)) std::memcpy(&stream_id_, name_.data(), name_.size());
      return;
    }
    if (byte != ByteAt(stream_id_, offset_)) ADD_FAILURE() << "wrong byte at " << offset_;
    ++offset_;
    if (offset_ > ledger_.entries[stream_id_].written)
      ADD_FAILURE() << "bytes that were not written";
  }

  Loop& loop_;
  Ledger& ledger_;
  std::unique_ptr<Stream> stream_;
  std::string name_;
  uint32_t stream_id_ = 0;
  uint64_t offset_ = 0;
};

// Opens streams to random hosts, writes to them at random and closes them.
class Node {
 public:
  Node(World& world, Ledger& ledger) : loop_(**world.StartLoop({.name = "node"})), ledger_(ledger) {
    listener_ = *loop_.network().Listen({0, kPort}, {}, [this](std::unique_ptr<Stream> stream) {
      readers_.push_back(std::make_unique<Reader>(loop_, ledger_, std::move(stream)));
    });
    Open();
  }

 private:
  struct Ignore : StreamHandler {
    void OnData(std::string_view) override {}
    void OnClosed(const Status&) override {}
  };

  void Open() {
    const auto address = static_cast<uint32_t>(0x0a000001 + loop_.random().Below(kHosts));
    loop_.network().Connect({address, kPort}, loop_.Now() + seconds(2),
                            [this](StatusOr<std::unique_ptr<Stream>> stream) {
                              if (stream.ok()) Begin(*std::move(stream));
                            });
    loop_.RunAt(loop_.Now() + milliseconds(1 + loop_.random().Below(100)), [this] { Open(); });
  }

  void Begin(std::unique_ptr<Stream> stream) {
    const auto id = static_cast<uint32_t>(ledger_.entries.size());
    ledger_.entries.emplace_back();
    std::string name(sizeof(id), '\0');
    std::memcpy(name.data(), &id, sizeof(id));
    stream->Start(&ignore_);
    stream->Write(name);
    WriteOn(id, std::move(stream));
  }

  void WriteOn(uint32_t id, std::unique_ptr<Stream> stream) {
    Ledger::Entry& entry = ledger_.entries[id];
    if (loop_.random().Below(5) == 0) {
      entry.closed = true;
      stream->Close();
      return;
    }
    std::string bytes(loop_.random().Below(4) == 0 ? 50'000 : 100, '\0');
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = ByteAt(id, entry.written + i);
    entry.written += bytes.size();
    stream->Write(std::move(bytes));
    loop_.RunAt(loop_.Now() + milliseconds(loop_.random().Below(30)),
                [this, id, kept = std::move(stream)]() mutable { WriteOn(id, std::move(kept)); });
  }

  Loop& loop_;
  Ledger& ledger_;
  Ignore ignore_;
  std::unique_ptr<Listener> listener_;
  std::vector<std::unique_ptr<Reader>> readers_;
};

uint64_t RunNodes(uint64_t seed, Ledger& ledger) {
  Simulator simulator(seed);
  RandomFaultOptions faults;
  for (int i = 0; i < kHosts; ++i) {
    faults.hosts.push_back("n" + std::to_string(i));
    simulator.AddHost({.name = faults.hosts.back(), .boot = [&](World& world) {
                         return std::make_shared<Node>(world, ledger);
                       }});
  }
  simulator.SetLinks({.stream_loss = 0.01});
  faults.horizon = TimePoint(seconds(6));
  faults.interval_mean = milliseconds(400);
  faults.duration_mean = milliseconds(500);
  faults.kinds = {Fault::Kind::kCrash, Fault::Kind::kPause, Fault::Kind::kCut,
                  Fault::Kind::kCutOneWay};
  ScheduleFaults(simulator, DrawFaults(simulator.random(), faults));
  simulator.RunFor(seconds(10));
  return simulator.trace_hash();
}

TEST(StreamPropertyTest, ReadersSeeAPrefixOfTheWritesUnderRandomFaults) {
  int broken_count = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Ledger ledger;
    RunNodes(seed, ledger);
    EXPECT_GT(ledger.read_size, 1'000'000u);
    EXPECT_GT(ledger.whole_count, 100);
    broken_count += ledger.broken_count;
  }
  EXPECT_GT(broken_count, 0);
}

TEST(StreamPropertyTest, RunsWithFaultsAreReplayed) {
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    Ledger first;
    Ledger second;
    EXPECT_EQ(RunNodes(seed, first), RunNodes(seed, second));
    EXPECT_EQ(first.read_size, second.read_size);
  }
}

}  // namespace
}  // namespace neptune

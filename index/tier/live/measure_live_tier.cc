// Measures searches while documents change and segments are merged, and the rate of changes:
//
//   measure_live_tier --documents=N --queries=M --rounds=R
//
// Builds a partition of N synthetic documents in a temporary folder. R rounds follow, each with M
// searches of every kind in turn: `quiet` with no change under way, `changing` with a writer that
// applies 50 documents a second and refreshes as the service does, `merging` with segments of 100
// documents merged all the time, on a thread of lowest priority. Prints the median over the rounds
// of p50 and p99 in microseconds, and of their ratios to the quiet round's.

#include <gflags/gflags.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "index/tier/live/live_tier.h"
#include "index/tier/registry.h"
#include "index/updates/map_state.h"

DEFINE_uint64(documents, 50000, "documents of the published partition");
DEFINE_uint64(queries, 2000, "searches of each kind per round");
DEFINE_uint64(rounds, 7, "rounds");

namespace search::index {
namespace {

void Check(const neptune::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

// Low numbers are common.
std::string RandomWord(std::mt19937_64& random) {
  uint64_t below = 20000;
  for (int i = 0; i < 3; ++i) below = 1 + random() % below;
  return "w" + std::to_string(below);
}

std::string RandomBody(std::mt19937_64& random) {
  std::string body;
  for (int i = 0; i < 200; ++i) body += RandomWord(random) + " ";
  return body;
}

double NowMicroseconds() {
  timespec at = {};
  clock_gettime(CLOCK_MONOTONIC, &at);
  return static_cast<double>(at.tv_sec) * 1e6 + static_cast<double>(at.tv_nsec) / 1e3;
}

// Signals a thread to end, and wakes it if it waits.
class Ending {
 public:
  Ending() : event_(::eventfd(0, 0)) {}
  ~Ending() { ::close(event_); }
  void Set() {
    is_set_ = true;
    ::eventfd_write(event_, 1);
  }
  bool is_set() const { return is_set_; }
  void WaitUntil(double microseconds) {
    pollfd waited = {.fd = event_, .events = POLLIN, .revents = 0};
    const double left_ms = (microseconds - NowMicroseconds()) / 1e3;
    if (left_ms > 0) ::poll(&waited, 1, static_cast<int>(left_ms));
  }

 private:
  const int event_;
  std::atomic<bool> is_set_ = false;
};

double MedianOf(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

class Bench {
 public:
  Bench() {
    folder_ = std::filesystem::temp_directory_path() /
              ("measure_live_tier." + std::to_string(::getpid()));
    const std::string base = folder_ / "base";
    const auto builder = CreateTierBuilder("segment", {.directory = base}).value();
    std::mt19937_64 random(1);
    for (uint64_t doc_id = 0; doc_id < FLAGS_documents; ++doc_id) {
      const std::string body = RandomBody(random);
      Check(builder->Add({.doc_id = doc_id, .body = body}));
    }
    Check(builder->Finish());
    Check(FinishTierCollection("segment", {base}, {}));
    published_ = OpenIndexTier("segment", base).value();
    tier_ =
        LiveTier::Open({.base_directory = base, .working_directory = folder_ / "working"}, &state_)
            .value();
  }
  ~Bench() {
    tier_.reset();
    published_.reset();
    std::filesystem::remove_all(folder_);
  }

  // Changes `count` documents, half of them existing ones.
  void Apply(int count, std::mt19937_64& random) {
    PartitionChange whole;
    const uint64_t first = random();
    for (int i = 0; i < count; ++i) {
      DocumentChange& change = *whole.add_documents();
      change.set_doc_id(i % 2 == 0 ? (first + static_cast<uint64_t>(i)) % FLAGS_documents
                                   : kFirstHashedDocId | (first + static_cast<uint64_t>(i)));
      change.set_version(++version_);
      change.mutable_upsert()->set_url("http://a/");
      change.mutable_upsert()->set_text(RandomBody(random));
    }
    Check(state_.Execute(whole).status());
    tier_->NoteChange(whole);
  }

  void MergeAll() {
    while (tier_->MergeSome(1'000'000).value() != MergeProgress::kNothingToDo) {
    }
  }

  // p50 and p99 latency of searches while `background` runs at the lowest priority until it is
  // stopped.
  std::pair<double, double> Measure(const IndexTier& tier,
                                    const std::function<void(Ending*)>& background) {
    Ending ending;
    std::thread thread([&] {
      ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), 19);
      if (background) background(&ending);
    });
    std::mt19937_64 random(2);
    std::vector<double> times;
    for (uint64_t i = 0; i < FLAGS_queries; ++i) {
      TierQuery tier_query;
      tier_query.set_query(RandomWord(random) + (i % 2 == 0 ? " " : " OR ") + RandomWord(random));
      tier_query.set_hit_count_max(10);
      const double start = NowMicroseconds();
      Check(tier.Search(tier_query, {}).status());
      times.push_back(NowMicroseconds() - start);
    }
    ending.Set();
    thread.join();
    std::sort(times.begin(), times.end());
    return {times[times.size() / 2], times[times.size() * 99 / 100]};
  }

  void Changing(Ending* ending) {
    std::mt19937_64 random(version_);
    double next = NowMicroseconds();
    while (!ending->is_set()) {
      Apply(10, random);
      Check(tier_->Refresh().status());
      while (tier_->MergeSome(2000).value() == MergeProgress::kUnderWay && !ending->is_set()) {
      }
      next += std::chrono::duration<double, std::micro>(kRefreshInterval).count();
      ending->WaitUntil(next);
    }
  }

  void Merging(Ending* ending) {
    std::mt19937_64 random(version_);
    while (!ending->is_set()) {
      const auto progress = tier_->MergeSome(2000);
      Check(progress.status());
      if (*progress != MergeProgress::kNothingToDo) continue;
      for (int i = 0; i < 8; ++i) {
        Apply(100, random);
        Check(tier_->Refresh().status());
      }
    }
  }

  void MeasureRates() {
    std::mt19937_64 random(3);
    for (const int count : {1, 10, 100, 1000}) {
      double refresh = 0;
      int rounds = 0;
      for (; rounds < 5 || refresh < 3e5; ++rounds) {
        Apply(count, random);
        const double start = NowMicroseconds();
        Check(tier_->Refresh().status());
        refresh += NowMicroseconds() - start;
        MergeAll();
      }
      std::printf("refresh of %4d documents: %8.0f us, %6.0f documents/s\n", count,
                  refresh / rounds, 1e6 * count * rounds / refresh);
    }
  }

  // Compares the live tier before any change with the published one, alternating between them.
  void MeasureUntouched() {
    std::vector<double> ratio50;
    std::vector<double> ratio99;
    for (uint64_t round = 0; round < 2 * FLAGS_rounds; ++round) {
      const auto published = Measure(*published_, {});
      const auto live = Measure(*tier_, {});
      ratio50.push_back(live.first / published.first);
      ratio99.push_back(live.second / published.second);
    }
    std::printf("no change yet, of published: p50 %.3f, p99 %.3f\n", MedianOf(ratio50),
                MedianOf(ratio99));
  }

  void MeasureTimes() {
    struct Kind {
      const char* name;
      const IndexTier* tier;
      std::function<void(Ending*)> background;
      std::vector<double> p50, p99, ratio50, ratio99;
    };
    std::vector<Kind> kinds = {
        {.name = "published", .tier = published_.get()},
        {.name = "quiet", .tier = tier_.get()},
        {.name = "changing", .tier = tier_.get(), .background = [this](auto* d) { Changing(d); }},
        {.name = "merging", .tier = tier_.get(), .background = [this](auto* d) { Merging(d); }}};
    MeasureUntouched();
    for (uint64_t round = 0; round < FLAGS_rounds; ++round) {
      for (Kind& kind : kinds) {
        if (!kind.background) MergeAll();
        const auto [p50, p99] = Measure(*kind.tier, kind.background);
        kind.p50.push_back(p50);
        kind.p99.push_back(p99);
        if (kind.tier != tier_.get()) continue;
        std::fprintf(stderr, "%s: %lu segments\n", kind.name,
                     static_cast<unsigned long>(tier_->segment_count()));
      }
      for (Kind& kind : kinds) {
        kind.ratio50.push_back(kind.p50.back() / kinds[1].p50.back());
        kind.ratio99.push_back(kind.p99.back() / kinds[1].p99.back());
      }
    }
    for (const Kind& kind : kinds) {
      std::printf("%-10s p50 %7.1f us  p99 %7.1f us", kind.name, MedianOf(kind.p50),
                  MedianOf(kind.p99));
      std::printf("  of quiet: %.2f, %.2f\n", MedianOf(kind.ratio50), MedianOf(kind.ratio99));
    }
  }

 private:
  std::filesystem::path folder_;
  MapState state_;
  std::unique_ptr<IndexTier> published_;
  std::unique_ptr<LiveTier> tier_;
  uint64_t version_ = 0;
};

}  // namespace
}  // namespace search::index

int main(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  search::index::Bench bench;
  bench.MeasureTimes();
  bench.MeasureRates();
  return 0;
}

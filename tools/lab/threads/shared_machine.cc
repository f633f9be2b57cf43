#include "tools/lab/threads/shared_machine.h"

#include <list>
#include <memory>
#include <unordered_map>

#include "neptune/world/random_source.h"
#include "neptune/world/sim/simulator.h"

namespace search::lab {
namespace {

using neptune::Duration;
using neptune::FromSeconds;

// Written pages are never read again.
constexpr int kWrittenFrom = 1'000'000'000;

class PageCache {
 public:
  explicit PageCache(int page_count) : page_count_(static_cast<size_t>(page_count)) {}

  // Returns whether the page was cached; makes it the most recently used page.
  bool Use(int page) {
    const auto found = places_.find(page);
    const bool was_there = found != places_.end();
    if (was_there) order_.erase(found->second);
    order_.push_front(page);
    places_[page] = order_.begin();
    if (order_.size() > page_count_) {
      places_.erase(order_.back());
      order_.pop_back();
    }
    return was_there;
  }

 private:
  const size_t page_count_;
  std::list<int> order_;
  std::unordered_map<int, std::list<int>::iterator> places_;
};

class Machine {
 public:
  Machine(const MachineOptions& options, uint64_t seed)
      : options_(options),
        simulator_(seed),
        random_(simulator_.random().Next()),
        host_(simulator_.AddHost(
            {.name = "machine",
             .processors = {.count = 1, .quantum = FromSeconds(options.quantum_ms / 1000)}})),
        disk_(simulator_.AddHost({.name = "disk", .processors = {.count = 1}})),
        loop_(**host_.StartLoop({.name = "threads"})),
        disk_loop_(**disk_.StartLoop({.name = "disk"})),
        cache_(options.cache_page_count) {}

  std::vector<double> Run(const std::vector<MachineService>& services) {
    served_.assign(services.size(), 0);
    loop_.Post([&] {
      for (size_t i = 0; i < services.size(); ++i) {
        for (int thread = 0; thread < services[i].thread_count; ++thread) Begin(services[i], i);
      }
    });
    simulator_.RunFor(FromSeconds(options_.warm_up_s));
    served_.assign(services.size(), 0);
    simulator_.RunFor(FromSeconds(options_.length_s));
    for (double& served : served_) served /= options_.length_s;
    return served_;
  }

 private:
  Duration Draw(double mean_ms) {
    return FromSeconds(mean_ms > 0 ? random_.Exponential(mean_ms / 1000) : 0);
  }

  // The next request of a thread: half of its processor time first, half at the end.
  void Begin(const MachineService& service, size_t number) {
    const RequestKind& kind = service.kinds[random_.Below(service.kinds.size())];
    const Duration half = Draw(kind.processor_ms) / 2;
    host_.processors().Execute(loop_, half, [this, &service, &kind, number, half] {
      Read(kind, kind.read_count, [this, &service, &kind, number, half] {
        for (int i = 0; i < kind.written_count; ++i) cache_.Use(kWrittenFrom + written_count_++);
        loop_.RunAt(loop_.Now() + Draw(kind.elsewhere_ms), [this, &service, number, half] {
          host_.processors().Execute(loop_, half, [this, &service, number] {
            ++served_[number];
            Begin(service, number);
          });
        });
      });
    });
  }

  int DrawPage(const RequestKind& kind) {
    if (random_.Uniform() < kind.often_share) {
      return kind.first_page +
             static_cast<int>(random_.Below(static_cast<uint64_t>(kind.often_read_page_count)));
    }
    return kind.first_page + kind.often_read_page_count +
           static_cast<int>(random_.Below(static_cast<uint64_t>(kind.seldom_read_page_count)));
  }

  // One page after the other.
  void Read(const RequestKind& kind, int left, std::function<void()> done) {
    while (left > 0 && cache_.Use(DrawPage(kind))) --left;
    if (left == 0) return done();
    disk_.processors().Execute(disk_loop_, Draw(options_.disk_page_ms),
                               [this, &kind, left, done = std::move(done)]() mutable {
                                 loop_.Post([this, &kind, left, done = std::move(done)]() mutable {
                                   Read(kind, left - 1, std::move(done));
                                 });
                               });
  }

  const MachineOptions options_;
  neptune::Simulator simulator_;
  neptune::RandomSource random_;
  neptune::SimWorld& host_;
  neptune::SimWorld& disk_;
  neptune::Loop& loop_;
  neptune::Loop& disk_loop_;
  PageCache cache_;
  int written_count_ = 0;
  std::vector<double> served_;
};

}  // namespace

neptune::StatusOr<std::vector<double>> RunSharedMachine(const std::vector<MachineService>& services,
                                                        const MachineOptions& options,
                                                        uint64_t seed) {
  int threads = 0;
  for (const MachineService& one : services) threads += one.thread_count;
  if (threads == 0) return neptune::InvalidArgument("a machine without threads");
  return Machine(options, seed).Run(services);
}

}  // namespace search::lab

#include "tools/lab/search/page_visits.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/wire/http/http_fetch.h"
#include "neptune/world/real/real_world.h"

namespace search::lab {

using neptune::StatusOr;
using neptune::TimePoint;

namespace {

constexpr size_t kPageSizeMax = size_t{16} << 20;

}  // namespace

double VisitTimes::Quantile(double share) const {
  if (ms.empty()) return neptune::ToMillis(kVisitTimeMax);
  std::vector<double> sorted = ms;
  std::sort(sorted.begin(), sorted.end());
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[static_cast<size_t>(std::max(1.0, rank)) - 1];
}

StatusOr<std::unique_ptr<PageVisits>> PageVisits::Begin(std::vector<Page> pages,
                                                        neptune::Duration every) {
  std::unique_ptr<PageVisits> visits(new PageVisits(std::move(pages), every));
  NEPTUNE_ASSIGN_OR_RETURN(visits->loop_, visits->world_->StartLoop({.name = "visits"}));
  visits->loop_->Post([visits = visits.get()] { visits->Start(); });
  return visits;
}

PageVisits::PageVisits(std::vector<Page> pages, neptune::Duration every)
    : pages_(std::move(pages)), every_(every), world_(neptune::MakeRealWorld({})) {
  for (const Page& page : pages_) times_[page.kind];
}

PageVisits::~PageVisits() { world_->Stop(); }

void PageVisits::Start() {
  threads_ = std::make_unique<neptune::ThreadScheduler>(*loop_);
  for (size_t i = 0; i < pages_.size(); ++i) {
    const TimePoint due = loop_->Now() + every_ * i / pages_.size();
    const auto started =
        threads_->Spawn([this, i, due] { VisitUntilStopped(pages_[i], due); }, "visits");
    running_count_ += started.ok() ? 1 : 0;
  }
}

void PageVisits::VisitUntilStopped(const Page& page, TimePoint due) {
  while (neptune::this_thread::SleepUntil(due) != neptune::ParkResult::kStopping) {
    Visit(page);
    due = std::max(due + every_, neptune::this_thread::Now());
  }
  if (--running_count_ == 0) ended_.Notify();
}

void PageVisits::Visit(const Page& page) {
  const TimePoint begin = neptune::this_thread::Now();
  const auto answer =
      neptune::HttpFetch(page.server, page.target, begin + kVisitTimeMax, kPageSizeMax);
  if (threads_->stopping()) return;  // cut short
  VisitTimes& times = times_[page.kind];
  if (answer.ok() && answer->status == 200) {
    times.ms.push_back(neptune::ToMillis(neptune::this_thread::Now() - begin));
    return;
  }
  times.ms.push_back(neptune::ToMillis(kVisitTimeMax));
  ++times.failed_count;
  times.failure =
      answer.ok() ? neptune::StrCat("status ", answer->status) : answer.status().ToString();
}

std::map<std::string, VisitTimes> PageVisits::End() {
  neptune::Notification gone;
  loop_->Post([this] {
    if (running_count_ == 0) return ended_.Notify();
    threads_->Stop();
  });
  ended_.WaitForNotification();
  loop_->Post([&] {
    threads_.reset();
    gone.Notify();
  });
  gone.WaitForNotification();
  return std::move(times_);
}

}  // namespace search::lab

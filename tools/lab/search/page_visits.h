// Measures the response times of pages: visits each page at its own pace, independently of the
// others.
//
// Threads: one caller; a separate event loop visits, each time with a new connection.
// Units: milliseconds from before the connection to the complete answer.
// Errors: those of the world. A visit without a status 200 within kVisitTimeMax counts as failed,
//   with that time.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/notification.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/network.h"
#include "neptune/world/world.h"

namespace search::lab {

inline constexpr neptune::Duration kVisitTimeMax = std::chrono::seconds(2);

struct Page {
  std::string kind;  // groups the results of visits
  neptune::Endpoint server;
  std::string target;
};

struct VisitTimes {
  std::vector<double> ms;
  double failed_count = 0;
  std::string failure;  // the cause of the last failure
  // The quantile `share` of the times in milliseconds; kVisitTimeMax if no visit has ended.
  double Quantile(double share) const;
};

class PageVisits {
 public:
  // Visits each page with period `every`, or when its previous visit ends; the first visits are
  // spread over one period.
  static neptune::StatusOr<std::unique_ptr<PageVisits>> Begin(std::vector<Page> pages,
                                                              neptune::Duration every);
  ~PageVisits();

  // Stops the visits and returns their times by kind. REQUIRES: called once.
  std::map<std::string, VisitTimes> End();

 private:
  PageVisits(std::vector<Page> pages, neptune::Duration every);
  void Start();
  void VisitUntilStopped(const Page& page, neptune::TimePoint due);
  void Visit(const Page& page);

  const std::vector<Page> pages_;
  const neptune::Duration every_;
  const std::unique_ptr<neptune::World> world_;
  neptune::Loop* loop_ = nullptr;
  // Used on the loop only, until it has ended.
  std::unique_ptr<neptune::ThreadScheduler> threads_;
  size_t running_count_ = 0;
  std::map<std::string, VisitTimes> times_;
  neptune::Notification ended_;
};

}  // namespace search::lab

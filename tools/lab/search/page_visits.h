// Visits to pages of servers, each page at its own pace whatever the others take: how long who looks waits.
//
// Threads: one caller; a loop of its own visits, every time with a new connection.
// Units: milliseconds from before the connection to the whole answer.
// Errors: those of the world. A visit without an answer of status 200 within kVisitTimeMax has failed and took as long.

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
  std::string kind;  // visits are told together by it
  neptune::Endpoint server;
  std::string target;
};

struct VisitTimes {
  std::vector<double> ms;
  double failed_count = 0;
  std::string failure;  // the last one's reason
  // Which part of them took at most that many milliseconds; 0 of none.
  double Quantile(double share) const;
};

class PageVisits {
 public:
  // Each page every so long, or when the visit before ends; the first visits are spread over that time.
  static neptune::StatusOr<std::unique_ptr<PageVisits>> Begin(std::vector<Page> pages,
                                                              neptune::Duration every);
  ~PageVisits();

  // Ends them; by kind. Once.
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
  // On the loop only, until it has ended.
  std::unique_ptr<neptune::ThreadScheduler> threads_;
  size_t running_count_ = 0;
  std::map<std::string, VisitTimes> times_;
  neptune::Notification ended_;
};

}  // namespace search::lab

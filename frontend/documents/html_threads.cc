#include "frontend/documents/html_threads.h"

#include <utility>

#include "neptune/thread/synchronization.h"

namespace search::frontend {
namespace {

// Counts a task against kHtmlTasksMax until the task is destroyed, whether it ran or not.
class Place {
 public:
  explicit Place(std::shared_ptr<std::atomic<int>> count) : count_(std::move(count)) {}
  ~Place() { --*count_; }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

 private:
  const std::shared_ptr<std::atomic<int>> count_;
};

}  // namespace

neptune::Status HtmlThreads::Run(std::function<void()> task, neptune::TimePoint deadline) {
  if (++*task_count_ > kHtmlTasksMax) {
    --*task_count_;
    return neptune::ResourceExhausted("more than ", kHtmlTasksMax,
                                      " HTML documents are being read");
  }
  auto place = std::make_shared<Place>(task_count_);
  if (threads_ == nullptr) {
    task();
    return neptune::OkStatus();
  }
  const auto done = std::make_shared<neptune::OneShotEvent>();
  threads_->Run([task = std::move(task), place = std::move(place), done] {
    task();
    done->Set();
  });
  switch (done->Wait(deadline)) {
    case neptune::ParkResult::kWoken:
      return neptune::OkStatus();
    case neptune::ParkResult::kDeadline:
      return neptune::DeadlineExceeded("reading HTML");
    case neptune::ParkResult::kStopping:
      break;
  }
  return neptune::Cancelled("reading HTML: the node is stopping");
}

}  // namespace search::frontend

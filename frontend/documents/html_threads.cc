#include "frontend/documents/html_threads.h"

#include <glog/logging.h>

#include <exception>
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

// An exception would end the process: most likely there was no memory for what the task makes.
neptune::Status RunTask(const std::function<void()>& task, neptune::Counter* exceptions) {
  try {
    task();
    return neptune::OkStatus();
  } catch (const std::exception& error) {
    if (exceptions != nullptr) exceptions->Increment();
    LOG(ERROR) << "reading a posted document threw: " << error.what();
    return neptune::Internal("reading the document failed: ", error.what());
  }
}

}  // namespace

neptune::Status HtmlThreads::Run(std::function<void()> task, neptune::TimePoint deadline) {
  if (++*task_count_ > kHtmlTasksMax) {
    --*task_count_;
    return neptune::ResourceExhausted("more than ", kHtmlTasksMax, " documents are being read");
  }
  auto place = std::make_shared<Place>(task_count_);
  if (threads_ == nullptr) return RunTask(task, exceptions_);
  struct Outcome {
    neptune::Status status;
    neptune::OneShotEvent done;
  };
  const auto outcome = std::make_shared<Outcome>();
  threads_->Run([task = std::move(task), place = std::move(place), outcome, count = exceptions_] {
    outcome->status = RunTask(task, count);
    outcome->done.Set();
  });
  switch (outcome->done.Wait(deadline)) {
    case neptune::ParkResult::kWoken:
      return outcome->status;
    case neptune::ParkResult::kDeadline:
      return neptune::DeadlineExceeded("reading documents");
    case neptune::ParkResult::kStopping:
      break;
  }
  return neptune::Cancelled("reading documents: the node is stopping");
}

}  // namespace search::frontend

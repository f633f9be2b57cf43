#include "frontend/documents/html_threads.h"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <thread>

#include "neptune/base/metrics.h"
#include "neptune/base/notification.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/real/real_world.h"

namespace search::frontend {
namespace {

using neptune::Notification;
using neptune::StatusCode;
using std::chrono::hours;
using std::chrono::milliseconds;

class HtmlThreadsTest : public testing::Test {
 protected:
  HtmlThreadsTest() {
    OnLoop([this] { scheduler_ = std::make_unique<neptune::ThreadScheduler>(*loop_); });
  }
  ~HtmlThreadsTest() override {
    threads_.reset();  // its running tasks wake threads of the scheduler
    OnLoop([this] { scheduler_.reset(); });
    world_->Stop();
  }

  void OnLoop(const std::function<void()>& work) {
    Notification done;
    loop_->Post([&] {
      work();
      done.Notify();
    });
    done.WaitForNotification();
  }
  // Runs `body` on a user-level thread and waits until it returns.
  void OnThread(std::function<void()> body) {
    Notification done;
    OnLoop([&] {
      ASSERT_TRUE(scheduler_
                      ->Spawn([&] {
                        body();
                        done.Notify();
                      })
                      .ok());
    });
    done.WaitForNotification();
    OnLoop([] {});  // the thread has unwound its stack
  }
  static neptune::TimePoint Never() { return neptune::this_thread::Now() + hours(1); }

  const std::unique_ptr<neptune::World> world_ = neptune::MakeRealWorld({});
  neptune::Loop* const loop_ = *world_->StartLoop({.name = "main"});
  std::unique_ptr<neptune::ThreadScheduler> scheduler_;
  std::unique_ptr<HtmlThreads> threads_ = std::make_unique<HtmlThreads>(*world_);
};

TEST_F(HtmlThreadsTest, ATaskRunsOnAnotherKernelThread) {
  OnThread([&] {
    const auto ran_on = std::make_shared<std::thread::id>();
    const auto run = [ran_on] { *ran_on = std::this_thread::get_id(); };
    EXPECT_TRUE(threads_->Run(run, Never()).ok());
    EXPECT_NE(*ran_on, std::thread::id());
    EXPECT_NE(*ran_on, std::this_thread::get_id());
  });
}

TEST_F(HtmlThreadsTest, ACallerContinuesAfterItsDeadline) {
  const auto release = std::make_shared<Notification>();
  OnThread([&] {
    const auto wait = [release] { release->WaitForNotification(); };
    EXPECT_EQ(threads_->Run(wait, neptune::this_thread::Now() + milliseconds(1)).code(),
              StatusCode::kDeadlineExceeded);
  });
  release->Notify();
}

TEST_F(HtmlThreadsTest, AnExceptionIsAnErrorAndCounted) {
  neptune::MetricsRegistry registry;
  neptune::Counter* const exceptions = *registry.AddCounter("exceptions_total", "Of tasks.");
  threads_ = std::make_unique<HtmlThreads>(*world_, exceptions);
  OnThread([&] {
    const neptune::Status status = threads_->Run([] { throw std::bad_alloc(); }, Never());
    EXPECT_EQ(status.code(), StatusCode::kInternal) << status;
    EXPECT_TRUE(threads_->Run([] {}, Never()).ok()) << "the thread lives";
  });
  EXPECT_EQ(exceptions->value(), 1U);
}

TEST_F(HtmlThreadsTest, TheNumberOfTasksIsBounded) {
  const auto release = std::make_shared<Notification>();
  int left = kHtmlTasksMax;
  Notification all_done;
  OnThread([&] {
    for (int i = 0; i < kHtmlTasksMax; ++i) {
      ASSERT_TRUE(scheduler_
                      ->Spawn([&] {
                        const auto wait = [release] { release->WaitForNotification(); };
                        EXPECT_TRUE(threads_->Run(wait, Never()).ok());
                        if (--left == 0) all_done.Notify();
                      })
                      .ok());
    }
    neptune::this_thread::Yield();
    EXPECT_EQ(threads_->Run([] {}, Never()).code(), StatusCode::kResourceExhausted);
  });
  release->Notify();
  all_done.WaitForNotification();
  OnThread([&] { EXPECT_TRUE(threads_->Run([] {}, Never()).ok()); });
}

}  // namespace
}  // namespace search::frontend

// Like conformance_threads.c, for C++: exceptions, destructors, std::thread and locks.

#include <pthread.h>
#include <sched.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <exception>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using std::chrono::milliseconds;

void Yield() { std::this_thread::yield(); }

// Threads catch, throw and yield while an exception is being handled.
int CatchAndYield(int number) {
  int wrong = 0;
  for (int i = 0; i < 200; ++i) {
    try {
      throw std::runtime_error(std::to_string(number));
    } catch (const std::runtime_error& error) {
      Yield();
      try {
        throw number;
      } catch (int inner) {
        Yield();
        if (inner != number) ++wrong;
      }
      if (error.what() != std::to_string(number)) ++wrong;
      if (std::uncaught_exceptions() != 0) ++wrong;
      try {
        throw;
      } catch (const std::runtime_error& again) {
        if (again.what() != std::to_string(number)) ++wrong;
      }
    }
  }
  return wrong;
}

void Exceptions() {
  std::vector<std::thread> threads;
  std::vector<int> wrong(5);
  for (int i = 0; i < 5; ++i) threads.emplace_back([&wrong, i] { wrong[i] = CatchAndYield(i); });
  int sum = CatchAndYield(99);
  for (auto& thread : threads) thread.join();
  for (const int one : wrong) sum += one;
  std::printf("wrong %d\n", sum);
}

struct Noisy {
  explicit Noisy(std::string text) : name(std::move(text)) {}
  ~Noisy() { std::printf("destroyed %s\n", name.c_str()); }
  std::string name;
};

void ExitBelow() {
  const Noisy inner("inner");
  try {
    pthread_exit(nullptr);
  } catch (...) {
    std::printf("caught on the way\n");
    throw;
  }
}

void PthreadExitUnwinds() {
  std::thread thread([] {
    const Noisy outer("outer");
    ExitBelow();
    std::printf("not reached\n");
  });
  thread.join();
  std::printf("joined\n");
}

void ConditionVariable() {
  std::mutex mutex;
  std::condition_variable changed;
  int turn = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 300; ++round) {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return turn % 4 == i; });
        ++turn;
        changed.notify_all();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  std::printf("turns %d\n", turn);
  std::unique_lock<std::mutex> lock(mutex);
  std::printf("in vain %d\n", changed.wait_for(lock, milliseconds(10), [] { return false; }));
}

void Locks() {
  std::shared_mutex shared;
  std::recursive_mutex recursive;
  std::timed_mutex timed;
  long one = 0;
  long other = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 300; ++round) {
        {
          const std::unique_lock<std::shared_mutex> lock(shared);
          ++one;
          if (round % 16 == 0) Yield();
          ++other;
        }
        const std::shared_lock<std::shared_mutex> lock(shared);
        if (one != other) std::printf("torn\n");
        const std::scoped_lock<std::recursive_mutex> first(recursive);
        const std::scoped_lock<std::recursive_mutex> second(recursive);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  std::printf("written %ld\n", one);
  timed.lock();
  std::thread([&] { std::printf("timed %d\n", timed.try_lock_for(milliseconds(10))); }).join();
  timed.unlock();
}

void Futures() {
  std::vector<std::future<int>> futures;
  for (int i = 0; i < 20; ++i) {
    futures.push_back(std::async(std::launch::async, [i] {
      Yield();
      if (i == 13) throw std::logic_error("thirteen");
      return i;
    }));
  }
  int sum = 0;
  for (auto& future : futures) {
    try {
      sum += future.get();
    } catch (const std::logic_error& error) {
      std::printf("%s\n", error.what());
    }
  }
  std::printf("sum %d\n", sum);
  std::promise<int> promise;
  std::thread answer([&] { promise.set_value(7); });
  std::printf("promised %d\n", promise.get_future().get());
  answer.join();
}

void CallOnce() {
  std::once_flag flag;
  int attempts = 0;
  const auto attempt = [&] {
    Yield();
    if (++attempts < 3) throw std::runtime_error("not yet");
  };
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&] {
      try {
        std::call_once(flag, attempt);
      } catch (const std::runtime_error&) {
        ++failures;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  std::printf("attempts %d, failures %d\n", attempts, failures.load());
}

int SlowNumber() {
  Yield();
  return 42;
}

// The first thread initialises it while others arrive.
int StaticNumber() {
  static const int number = SlowNumber();
  return number;
}

void StaticsOfFunctions() {
  std::vector<std::thread> threads;
  std::atomic<int> sum{0};
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { sum += StaticNumber(); });
  for (auto& thread : threads) thread.join();
  std::printf("sum %d\n", sum.load());
}

void Identities() {
  const std::thread::id main = std::this_thread::get_id();
  std::thread::id seen[2];
  std::thread one([&] { seen[0] = std::this_thread::get_id(); });
  std::thread other([&] { seen[1] = std::this_thread::get_id(); });
  const bool same = one.get_id() != other.get_id() && one.get_id() != main;
  one.join();
  other.join();
  std::printf("different %d %d\n", same, seen[0] != seen[1] && seen[0] != main);
  std::thread detached([] {});
  detached.detach();
  std::printf("joinable %d\n", detached.joinable());
}

void Terminates() {
  std::set_terminate([] {
    std::printf("terminated\n");
    std::fflush(stdout);
    _Exit(4);
  });
  std::thread([] { throw 1; }).join();
}

struct Case {
  const char* name;
  void (*run)();
};
constexpr Case kCases[] = {
    {"exceptions", &Exceptions},
    {"pthread_exit_unwinds", &PthreadExitUnwinds},
    {"condition_variable", &ConditionVariable},
    {"locks", &Locks},
    {"futures", &Futures},
    {"call_once", &CallOnce},
    {"statics_of_functions", &StaticsOfFunctions},
    {"identities", &Identities},
    {"terminates", &Terminates},
};

}  // namespace

int main(int argument_count, char** arguments) {
  for (const Case& one : kCases) {
    if (argument_count < 2) std::printf("%s\n", one.name);
    if (argument_count > 1 && std::strcmp(arguments[1], one.name) == 0) {
      one.run();
      return 0;
    }
  }
  return argument_count < 2 ? 0 : 2;
}

// Kernel threads that serve requests of several classes and share a processor by the kernel's
// scheduler.
//
//   Serve("gold") ─► the queue of its class ─► one of the kernel threads of its class ─► done
//                                              processor, then device, for random times
//
// Nodes run long requests on user-level threads, which keep the processor until they wait. MTRR is
// about threads that the kernel preempts, so its measurement needs these.
//
// Source: [Jamjoom04] III (A1 to A6).
// Threads: thread-safe. Serve blocks its caller, which is a user-level thread.
// Units: seconds.
// Errors: Serve: kResourceExhausted the queue of the class is full; Set: kInvalidArgument.
// Limits: kKernelThreadCountMax threads; classes beyond kKernelClassCountMax are refused.

#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "neptune/base/status.h"
#include "neptune/world/random_source.h"

namespace search::lab {

inline constexpr int kKernelThreadCountMax = 128;
inline constexpr size_t kKernelClassCountMax = 16;
inline constexpr size_t kStratumCount = 64;

// The work of a request.
struct KernelWork {
  // Means of exponential times.
  double processor_s = 0;
  double device_s = 0;
  // Each kStratumCount consecutive requests draw one time from each of kStratumCount strata, in
  // random order. Throughput then varies by 1 % instead of 5 %. Not for response times, because it
  // makes bursts more even.
  bool stratified = false;
  // Concurrent requests of the device; the others wait for it.
  int device_width = 1;
};

struct KernelClassState {
  std::string name;
  int thread_count = 0;  // 0: uses the shared threads
  int busy_count = 0;
  int waiting_count = 0;
  uint64_t arrived = 0;
  uint64_t served = 0;
  uint64_t refused = 0;
  double run_s = 0;
  double processor_s = 0;
  double response_s = 0;
};

class KernelClassThreads {
 public:
  struct Options {
    KernelWork work;
    int queue_length_max = 128;
    // The processor that all threads share; negative: any.
    int processor = 0;
    uint64_t seed = 1;
  };

  explicit KernelClassThreads(const Options& options);
  // Waits for the requests in progress. REQUIRES: no caller waits in Serve.
  ~KernelClassThreads();

  neptune::Status Serve(const std::string& service_class);
  // Sets the threads of the named classes; the other classes share the rest of `concurrency`.
  neptune::Status Set(int concurrency, const std::map<std::string, int>& classes);

  int concurrency() const;
  int queue_length_max() const { return options_.queue_length_max; }
  std::vector<KernelClassState> States() const;

 private:
  struct Request;
  struct Class {
    KernelClassState state;
    std::deque<Request*> waiting;
  };
  struct Costs {
    double processor_s = 0;
    double device_s = 0;
  };
  // The unused strata of processor or device times.
  using Strata = std::vector<int>;

  void RunThread();
  double Draw(double mean, Strata* strata) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns a class whose next request may begin, or null.
  Class* Next() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool MayBegin(const Class& one) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void UseDevice(double seconds);

  const Options options_;
  mutable absl::Mutex mutex_;
  absl::CondVar work_came_;
  neptune::RandomSource random_ ABSL_GUARDED_BY(mutex_);
  Strata processor_strata_ ABSL_GUARDED_BY(mutex_);
  Strata device_strata_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Class> classes_ ABSL_GUARDED_BY(mutex_);
  int concurrency_ ABSL_GUARDED_BY(mutex_) = 1;
  // Busy threads of classes without threads of their own, and their limit.
  int shared_busy_count_ ABSL_GUARDED_BY(mutex_) = 0;
  int shared_count_ ABSL_GUARDED_BY(mutex_) = 1;
  std::string last_class_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Mutex device_mutex_;
  int device_busy_count_ ABSL_GUARDED_BY(device_mutex_) = 0;
  std::vector<std::thread> threads_;
};

}  // namespace search::lab

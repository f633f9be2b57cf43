#include "neptune/world/real/background_log.h"

#include <fcntl.h>
#include <glog/logging.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

// A pipe that is ready for writing takes this many bytes without blocking (PIPE_BUF on Linux).
constexpr size_t kWriteSizeMax = 4096;
// How often a thread that waits for the descriptor looks whether it is to give up.
constexpr int kPollMillis = 50;

// Returns true if the descriptor can be written; false after `millis`. A file always can be.
bool CanWrite(int descriptor, int millis) {
  pollfd entry{descriptor, POLLOUT, 0};
  return poll(&entry, 1, millis) > 0;
}

bool IsGone(int error) { return error != EINTR && error != EAGAIN && error != EWOULDBLOCK; }

}  // namespace

BackgroundLog::BackgroundLog(const BackgroundLogOptions& options)
    : options_(options), writer_([this] { WriteUntilStopped(); }) {}

BackgroundLog::~BackgroundLog() {
  Flush(options_.flush_max);
  gives_up_ = true;
  {
    BlockingLock lock(&mutex_);
    stopping_ = true;
    changed_.SignalAll();
  }
  writer_.join();
}

void BackgroundLog::Append(std::string_view line) {
  line = line.substr(0, kLogLineSizeMax);
  BlockingLock lock(&mutex_);
  if (size_ + line.size() + 1 > options_.size_max) {
    ++unreported_count_;
    dropped_count_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (unreported_count_ > 0) ReportDropped();
  lines_.push_back(StrCat(line, "\n"));
  size_ += lines_.back().size();
  if (!is_writing_) changed_.SignalAll();
}

void BackgroundLog::ReportDropped() {
  lines_.push_back(StrCat(std::exchange(unreported_count_, 0), " log lines were dropped\n"));
  size_ += lines_.back().size();
}

bool BackgroundLog::Flush(Duration limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  BlockingLock lock(&mutex_);
  while (has_work() || is_writing_) {
    const auto rest = end - std::chrono::steady_clock::now();
    if (rest <= Duration(0)) return false;
    (void)changed_.WaitFor(&mutex_, rest);
  }
  return true;
}

std::string BackgroundLog::TakeSome() {
  if (lines_.empty()) ReportDropped();
  std::string some;
  do {
    some += lines_.front();
    lines_.pop_front();
  } while (!lines_.empty() && some.size() + lines_.front().size() <= kWriteSizeMax);
  size_ -= some.size();
  return some;
}

void BackgroundLog::WriteUntilStopped() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);  // also SIGPIPE of a reader that is gone
  pthread_setname_np(pthread_self(), "log");
  BlockingLock lock(&mutex_);
  for (;;) {
    while (!has_work() && !stopping_) changed_.Wait(&mutex_);
    if (stopping_) return;
    const std::string some = TakeSome();
    is_writing_ = true;
    mutex_.Unlock();
    const bool written = WriteAll(some);
    mutex_.Lock();
    is_writing_ = false;
    if (!written) dropped_count_ += std::count(some.begin(), some.end(), '\n');
    if (!has_work()) changed_.SignalAll();
  }
}

bool BackgroundLog::WriteAll(std::string_view bytes) const {
  while (!bytes.empty()) {
    if (gives_up_) return false;
    if (!CanWrite(options_.descriptor, kPollMillis)) continue;
    const ssize_t count =
        write(options_.descriptor, bytes.data(), std::min(bytes.size(), kWriteSizeMax));
    if (count < 0 && IsGone(errno)) return false;
    if (count > 0) bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

// Called by glog with its own lock held: only a fatal message waits, because it is the last one.
class LogsInBackground::Sink final : public google::base::Logger {
 public:
  Sink(BackgroundLog& log, const BackgroundLogOptions& options) : log_(log), options_(options) {}

  void Write(bool is_urgent, time_t time, const char* text, size_t size) override {
    (void)time;
    std::string_view line(text, size);
    if (line.empty() && is_urgent) return Die();  // glog's last call before it ends the process
    if (line.ends_with('\n')) line.remove_suffix(1);
    log_.Append(line);
    if (line.starts_with('F')) last_words_ = line;
  }
  void Flush() override {}
  google::uint32 LogSize() override { return 0; }

 private:
  void Die() {
    if (log_.Flush(options_.flush_max)) return;
    // The queue is not written, and may have dropped the message that matters most.
    if (CanWrite(options_.descriptor, 0)) {
      const std::string words = last_words_.substr(0, kWriteSizeMax - 1) + "\n";
      if (write(options_.descriptor, words.data(), words.size()) >= 0) return;
    }
    // glog itself writes the stack trace to standard error and would block there.
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) dup2(nowhere, options_.descriptor);
  }

  BackgroundLog& log_;
  const BackgroundLogOptions options_;
  std::string last_words_;
};

LogsInBackground::LogsInBackground(const BackgroundLogOptions& options)
    : log_(std::make_unique<BackgroundLog>(options)),
      logged_to_stderr_(FLAGS_logtostderr),
      stderr_threshold_(FLAGS_stderrthreshold) {
  for (int severity = 0; severity < google::NUM_SEVERITIES; ++severity) {
    google::SetLogDestination(severity, "");  // no files
  }
  usual_ = google::base::GetLogger(google::GLOG_INFO);
  // glog owns it. Messages of all severities reach the logger of the lowest one.
  google::base::SetLogger(google::GLOG_INFO, new Sink(*log_, options));
  FLAGS_logtostderr = false;
  FLAGS_stderrthreshold = google::NUM_SEVERITIES;  // nothing
}

LogsInBackground::~LogsInBackground() {
  FLAGS_logtostderr = logged_to_stderr_;
  FLAGS_stderrthreshold = stderr_threshold_;
  google::base::SetLogger(google::GLOG_INFO, usual_);
}

}  // namespace neptune

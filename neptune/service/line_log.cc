#include "neptune/service/line_log.h"

#include <fcntl.h>
#include <glog/logging.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "neptune/capsule/device_call.h"

namespace neptune {

namespace {
constexpr Duration kComplainEvery = std::chrono::minutes(1);
constexpr Duration kRemoveEvery = std::chrono::minutes(1);

Duration AgeOf(int64_t seconds, int64_t nanoseconds) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return std::chrono::seconds(now.tv_sec - seconds) +
         std::chrono::nanoseconds(now.tv_nsec - nanoseconds);
}
}  // namespace

// The file that device calls write, one call at a time.
class LineLog::File {
 public:
  explicit File(const LineLogOptions& options) : options_(options) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  Status Open() {
    const int descriptor =
        open(options_.path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    if (descriptor < 0) return ErrnoStatus(errno, "open", options_.path);
    struct stat state {};
    if (fstat(descriptor, &state) != 0) {
      const int error = errno;
      close(descriptor);
      return ErrnoStatus(error, "stat", options_.path);
    }
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = descriptor;
    size_ = static_cast<size_t>(state.st_size);
    return OkStatus();
  }

  // Writes `lines`, which end with a line break.
  Status Write(std::string_view lines) {
    if (size_ > 0 && size_ + lines.size() > options_.file_size_max) {
      NEPTUNE_RETURN_IF_ERROR(Rotate());
    }
    const size_t whole = size_;
    while (!lines.empty()) {
      const ssize_t count = write(descriptor_, lines.data(), lines.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return GiveBack(whole, ErrnoStatus(errno, "write", options_.path));
      lines.remove_prefix(static_cast<size_t>(count));
      size_ += static_cast<size_t>(count);
    }
    return OkStatus();
  }

  // Renames the file if it has lines of an older share of age_max, and removes files whose first
  // lines may be older than age_max.
  Status RemoveOld() {
    const Duration share = options_.age_max / options_.file_count_max;
    if (size_ > 0 && AgeOfFile() >= share) NEPTUNE_RETURN_IF_ERROR(Rotate());
    for (int i = 1; i < options_.file_count_max; ++i) {
      const std::string path = StrCat(options_.path, ".", i);
      struct stat state {};
      if (stat(path.c_str(), &state) != 0) continue;
      // Its first line is at most a share older than its last one.
      if (AgeOf(state.st_mtim.tv_sec, state.st_mtim.tv_nsec) < options_.age_max - share) continue;
      if (unlink(path.c_str()) != 0) return ErrnoStatus(errno, "remove", path);
    }
    return OkStatus();
  }

 private:
  // The time since the file was made; since it was written to, where that is not known.
  Duration AgeOfFile() const {
    struct statx state {};
    if (statx(descriptor_, "", AT_EMPTY_PATH, STATX_BTIME | STATX_MTIME, &state) != 0) {
      return Duration(0);
    }
    const auto& since = (state.stx_mask & STATX_BTIME) != 0 ? state.stx_btime : state.stx_mtime;
    return AgeOf(since.tv_sec, since.tv_nsec);
  }

  // Truncates the file after its last whole line.
  Status GiveBack(size_t whole, Status why) {
    if (ftruncate(descriptor_, static_cast<off_t>(whole)) == 0) size_ = whole;
    return why;
  }

  Status Rotate() {
    for (int i = options_.file_count_max - 1; i > 0; --i) {
      const std::string from = i == 1 ? options_.path : StrCat(options_.path, ".", i - 1);
      const std::string to = StrCat(options_.path, ".", i);
      if (rename(from.c_str(), to.c_str()) != 0 && errno != ENOENT) {
        return ErrnoStatus(errno, "rename", from);
      }
    }
    if (options_.file_count_max <= 1 && unlink(options_.path.c_str()) != 0 && errno != ENOENT) {
      return ErrnoStatus(errno, "remove", options_.path);
    }
    return Open();
  }

  const LineLogOptions options_;
  int descriptor_ = -1;
  size_t size_ = 0;
};

StatusOr<std::unique_ptr<LineLog>> LineLog::Open(const std::string& name, LineLogOptions options,
                                                 CapsuleStack& stack, MetricsRegistry& metrics) {
  auto file = std::make_shared<File>(options);
  NEPTUNE_RETURN_IF_ERROR(RunOnDevice(stack, options.path, [file] { return file->Open(); }));
  std::unique_ptr<LineLog> log(new LineLog(std::move(options), stack, std::move(file)));
  const auto count = [&](const char* outcome) {
    return metrics.AddCounter("neptune_line_log_lines_total",
                              "Lines appended to asynchronous logs, by outcome.",
                              {{"log", name}, {"outcome", outcome}});
  };
  NEPTUNE_ASSIGN_OR_RETURN(log->written_, count("written"));
  NEPTUNE_ASSIGN_OR_RETURN(log->lost_, count("lost"));
  NEPTUNE_ASSIGN_OR_RETURN(
      log->writer_, ThreadScheduler::Current()->Spawn(
                        [log = log.get()] { log->WriteUntilClosed(); }, StrCat("log ", name)));
  return log;
}

LineLog::LineLog(LineLogOptions options, CapsuleStack& stack, std::shared_ptr<File> file)
    : options_(std::move(options)), stack_(stack), file_(std::move(file)) {}

LineLog::~LineLog() = default;

void LineLog::Append(std::string_view line) {
  bool wake = false;
  {
    LeafLock lock(&mutex_);
    if (closed_ || pending_.size() + line.size() + 1 > options_.pending_size_max) {
      lost_->Increment();
      return;
    }
    const bool was_less = pending_.size() < options_.pending_size_max / 2;
    pending_ += line;
    pending_ += '\n';
    ++pending_count_;
    wake = was_less && pending_.size() >= options_.pending_size_max / 2;
  }
  if (wake) writer_->Wake();
}

void LineLog::WriteUntilClosed() {
  for (;;) {
    const ParkResult why = this_thread::Park(this_thread::Now() + options_.flush_every);
    Flush();
    RemoveOld();
    LeafLock lock(&mutex_);
    if (!closed_ && why != ParkResult::kStopping) continue;
    closed_ = true;
    ended_ = true;
    if (closer_) closer_->Wake();
    return;
  }
}

bool LineLog::has_ended() const {
  LeafLock lock(&mutex_);
  return ended_;
}

void LineLog::Flush() {
  std::string lines;
  int64_t count = 0;
  {
    LeafLock lock(&mutex_);
    lines.swap(pending_);
    count = std::exchange(pending_count_, 0);
  }
  if (lines.empty()) return;
  if (options_.may_write != nullptr && !options_.may_write()) return lost_->Increment(count);
  const Status status =
      RunOnDevice(stack_, options_.path,
                  [file = file_, lines = std::move(lines)] { return file->Write(lines); });
  (status.ok() ? written_ : lost_)->Increment(count);
  if (!status.ok() && this_thread::Now() - complained_at_ >= kComplainEvery) {
    complained_at_ = this_thread::Now();
    LOG(WARNING) << count << " lines of " << options_.path << " are lost: " << status;
  }
}

void LineLog::RemoveOld() {
  if (options_.age_max == Duration(0) || this_thread::Now() < age_at_) return;
  age_at_ = this_thread::Now() + kRemoveEvery;
  const Status status =
      RunOnDevice(stack_, options_.path, [file = file_] { return file->RemoveOld(); });
  LOG_IF(WARNING, !status.ok()) << "old lines of " << options_.path << " are kept: " << status;
}

void LineLog::Close() {
  {
    LeafLock lock(&mutex_);
    closed_ = true;
    closer_ = ThreadRef(UserThread::Current());
  }
  writer_->Wake();
  while (!has_ended()) this_thread::ParkUntilWoken();
}

}  // namespace neptune

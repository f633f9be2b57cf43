#include "tools/chaos/log_pipe.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"

namespace search::chaos {
namespace {

using neptune::Status;
using neptune::StatusOr;

constexpr int kBlockedPollMs = 5;
constexpr size_t kPieceSize = 64 * 1024;

}  // namespace

StatusOr<std::unique_ptr<LogPipe>> LogPipe::Make(const std::string& file) {
  neptune::Descriptor log(open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!log.open()) return neptune::ErrnoStatus(errno, "opening", file);
  NEPTUNE_ASSIGN_OR_RETURN(neptune::Pipe pipe, neptune::MakePipe());
  NEPTUNE_ASSIGN_OR_RETURN(neptune::Pipe wake, neptune::MakePipe());
  return std::unique_ptr<LogPipe>(new LogPipe(std::move(pipe), std::move(wake), std::move(log)));
}

LogPipe::~LogPipe() {
  Unblock();
  wake_.writing.Close();
  thread_.join();
}

Status LogPipe::Block() {
  {
    neptune::LeafLock lock(&mutex_);
    blocked_ = true;
  }
  // Another open file: the flag must not apply to the process's own.
  const std::string path = neptune::StrCat("/proc/self/fd/", descriptor());
  const neptune::Descriptor filler(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  if (!filler.open()) return neptune::ErrnoStatus(errno, "opening", path);
  while (write(filler.number(), "\n", 1) == 1) {
  }
  return errno == EAGAIN ? neptune::OkStatus() : neptune::ErrnoStatus(errno, "filling", path);
}

void LogPipe::Unblock() {
  neptune::LeafLock lock(&mutex_);
  blocked_ = false;
}

bool LogPipe::MoveOnce() {
  neptune::LeafLock lock(&mutex_);
  if (blocked_) return false;
  pollfd readable{pipe_.reading.number(), POLLIN, 0};
  if (poll(&readable, 1, 0) <= 0) return true;
  char bytes[kPieceSize];
  const ssize_t size = read(pipe_.reading.number(), bytes, sizeof(bytes));
  if (size > 0) (void)!write(file_.number(), bytes, static_cast<size_t>(size));
  return true;
}

void LogPipe::Move() {
  bool has_moved = true;
  while (true) {
    pollfd both[] = {{wake_.reading.number(), POLLIN, 0}, {pipe_.reading.number(), POLLIN, 0}};
    // While the pipe is blocked, it is readable all the time.
    poll(both, has_moved ? 2 : 1, has_moved ? -1 : kBlockedPollMs);
    has_moved = MoveOnce();
    if (both[0].revents != 0) return;
  }
}

}  // namespace search::chaos

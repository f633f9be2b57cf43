#include "tools/corpus/child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

extern char** environ;

namespace search::tools {
namespace {

using neptune::Status;
using neptune::StatusOr;
using neptune::Unavailable;

constexpr size_t kErrorOutputSizeMax = size_t{64} << 10;

// Two connected sockets. Unlike a pipe, a socket can be written without SIGPIPE when the peer is
// gone.
struct Channel {
  int here = -1;
  int there = -1;

  Status Open() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      return Unavailable("socketpair: ", strerror(errno));
    }
    here = ends[0];
    there = ends[1];
    return neptune::OkStatus();
  }
  static void Close(int* fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
  }
  ~Channel() {
    Close(&here);
    Close(&there);
  }
};

class Child {
 public:
  Child(const ChildOptions& options, const NanosecondClock& clock)
      : options_(options), clock_(clock), input_(options.input) {}
  ~Child() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    Reap();
  }

  Status Start(const std::vector<std::string>& arguments) {
    for (Channel& channel : channels_) NEPTUNE_RETURN_IF_ERROR(channel.Open());
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (int i = 0; i < 3; ++i) posix_spawn_file_actions_adddup2(&actions, channels_[i].there, i);
    if (!options_.folder.empty()) {
      posix_spawn_file_actions_addchdir_np(&actions, options_.folder.c_str());
    }
    std::vector<char*> argv;
    for (const std::string& argument : arguments)
      argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    const int error = posix_spawnp(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) pid_ = 0;
    if (error == ENOENT) return neptune::NotFound("no program '", arguments[0], "'");
    if (error != 0) return Unavailable("starting ", arguments[0], ": ", strerror(error));
    for (Channel& channel : channels_) Channel::Close(&channel.there);
    return neptune::OkStatus();
  }

  StatusOr<ChildResult> Run() {
    const int64_t deadline = clock_() + options_.time_ms_max * 1'000'000;
    while (channels_[1].here >= 0 || channels_[2].here >= 0) {
      const int64_t left_ms = (deadline - clock_()) / 1'000'000;
      if (left_ms <= 0) {
        return neptune::DeadlineExceeded("ran longer than ", options_.time_ms_max, " ms");
      }
      NEPTUNE_RETURN_IF_ERROR(Exchange(static_cast<int>(std::min<int64_t>(left_ms, 1000))));
    }
    result_.exit_status = Reap();
    return std::move(result_);
  }

 private:
  Status Exchange(int timeout_ms) {
    if (input_.empty()) Channel::Close(&channels_[0].here);
    std::array<pollfd, 3> polls = {{{channels_[0].here, POLLOUT, 0},
                                    {channels_[1].here, POLLIN, 0},
                                    {channels_[2].here, POLLIN, 0}}};
    if (poll(polls.data(), polls.size(), timeout_ms) < 0 && errno != EINTR) {
      return Unavailable("poll: ", strerror(errno));
    }
    if (polls[0].revents != 0) Feed();
    if (polls[1].revents != 0) Take(&channels_[1].here, options_.output_size_max, &result_.output);
    if (polls[2].revents != 0) {
      Take(&channels_[2].here, SIZE_MAX, &result_.error_output);
      result_.error_output.resize(std::min(result_.error_output.size(), kErrorOutputSizeMax));
    }
    if (result_.output.size() > options_.output_size_max) {
      return neptune::ResourceExhausted("printed more than ", options_.output_size_max, " bytes");
    }
    return neptune::OkStatus();
  }

  void Feed() {
    const ssize_t put =
        send(channels_[0].here, input_.data(), input_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put > 0) input_.remove_prefix(static_cast<size_t>(put));
    if (put < 0 && errno != EAGAIN && errno != EINTR) input_ = {};  // it accepts no more input
  }

  static void Take(int* fd, size_t size_max, std::string* out) {
    char block[16384];
    const ssize_t got = read(*fd, block, sizeof(block));
    if (got > 0) out->append(block, static_cast<size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) Channel::Close(fd);
  }

  int Reap() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  const ChildOptions& options_;
  const NanosecondClock& clock_;
  std::string_view input_;
  std::array<Channel, 3> channels_;
  pid_t pid_ = 0;
  ChildResult result_;
};

}  // namespace

StatusOr<ChildResult> RunChild(const std::vector<std::string>& arguments,
                               const ChildOptions& options, const NanosecondClock& clock) {
  Child child(options, clock);
  NEPTUNE_RETURN_IF_ERROR(child.Start(arguments));
  auto result = child.Run();
  if (!result.ok()) return neptune::Annotate(result.status(), arguments[0]);
  return result;
}

}  // namespace search::tools

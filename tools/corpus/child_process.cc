#include "tools/corpus/child_process.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "neptune/base/descriptor.h"
#include "neptune/base/process.h"

namespace search::tools {
namespace {

using neptune::Descriptor;
using neptune::Status;
using neptune::StatusOr;
using neptune::Unavailable;

constexpr size_t kErrorOutputSizeMax = size_t{64} << 10;

// Two connected sockets. Unlike a pipe, a socket can be written without SIGPIPE when the peer is
// gone.
struct Channel {
  Descriptor here;
  Descriptor there;

  Status Open() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      return Unavailable("socketpair: ", strerror(errno));
    }
    here = Descriptor(ends[0]);
    there = Descriptor(ends[1]);
    return neptune::OkStatus();
  }
};

class Child {
 public:
  Child(const ChildOptions& options, const NanosecondClock& clock)
      : options_(options), clock_(clock), input_(options.input) {}

  Status Start(const std::vector<std::string>& arguments) {
    for (Channel& channel : channels_) NEPTUNE_RETURN_IF_ERROR(channel.Open());
    neptune::ProcessOptions options{.command = arguments, .folder = options_.folder};
    options.input = channels_[0].there.number();
    options.output = channels_[1].there.number();
    options.error = channels_[2].there.number();
    StatusOr<neptune::Process> process = neptune::Process::Start(options);
    if (process.status().code() == neptune::StatusCode::kNotFound) {
      return neptune::NotFound("no program '", arguments[0], "'");
    }
    NEPTUNE_RETURN_IF_ERROR(process.status());
    process_.emplace(*std::move(process));
    for (Channel& channel : channels_) channel.there.Close();
    return neptune::OkStatus();
  }

  StatusOr<ChildResult> Run() {
    const int64_t deadline = clock_() + options_.time_ms_max * 1'000'000;
    while (channels_[1].here.open() || channels_[2].here.open()) {
      const int64_t left_ms = (deadline - clock_()) / 1'000'000;
      if (left_ms <= 0) {
        return neptune::DeadlineExceeded("ran longer than ", options_.time_ms_max, " ms");
      }
      NEPTUNE_RETURN_IF_ERROR(Exchange(static_cast<int>(std::min<int64_t>(left_ms, 1000))));
    }
    const neptune::ProcessEnd end = process_->Wait();
    result_.exit_status = end.signal == 0 ? end.exit_status : 128 + end.signal;
    return std::move(result_);
  }

 private:
  Status Exchange(int timeout_ms) {
    if (input_.empty()) channels_[0].here.Close();
    std::array<pollfd, 3> polls = {{{channels_[0].here.number(), POLLOUT, 0},
                                    {channels_[1].here.number(), POLLIN, 0},
                                    {channels_[2].here.number(), POLLIN, 0}}};
    if (poll(polls.data(), polls.size(), timeout_ms) < 0 && errno != EINTR) {
      return Unavailable("poll: ", strerror(errno));
    }
    if (polls[0].revents != 0) Feed();
    if (polls[1].revents != 0) Take(&channels_[1].here, &result_.output);
    if (polls[2].revents != 0) {
      Take(&channels_[2].here, &result_.error_output);
      result_.error_output.resize(std::min(result_.error_output.size(), kErrorOutputSizeMax));
    }
    if (result_.output.size() > options_.output_size_max) {
      return neptune::ResourceExhausted("printed more than ", options_.output_size_max, " bytes");
    }
    return neptune::OkStatus();
  }

  void Feed() {
    const ssize_t put =
        send(channels_[0].here.number(), input_.data(), input_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put > 0) input_.remove_prefix(static_cast<size_t>(put));
    if (put < 0 && errno != EAGAIN && errno != EINTR) input_ = {};  // it accepts no more input
  }

  static void Take(Descriptor* from, std::string* out) {
    char block[16384];
    const ssize_t got = read(from->number(), block, sizeof(block));
    if (got > 0) out->append(block, static_cast<size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) from->Close();
  }

  const ChildOptions& options_;
  const NanosecondClock& clock_;
  std::string_view input_;
  std::array<Channel, 3> channels_;
  std::optional<neptune::Process> process_;
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

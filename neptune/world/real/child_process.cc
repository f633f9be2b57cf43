#include "neptune/world/real/child_process.h"

#include <fcntl.h>
#include <glog/logging.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/world/real/real_loop.h"

namespace neptune {
namespace {

Duration FromTimeval(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

// Maximum reads in a row before the loop's other events get a turn.
constexpr int kReadCountMax = 16;

// A descriptor that is closed on destruction.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { Close(); }

  void Close() {
    if (number_ >= 0) close(std::exchange(number_, -1));
  }
  int number() const { return number_; }
  bool open() const { return number_ >= 0; }

 private:
  int number_;
};

struct Pipe {
  Descriptor reading;
  Descriptor writing;
};

Status OfErrno(int error, const std::string& doing) {
  const std::string message = StrCat(doing, ": ", std::strerror(error));
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return NotFound(message);
    case EAGAIN:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      return ResourceExhausted(message);
    default:
      return FailedPrecondition(message);
  }
}

StatusOr<Pipe> MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return OfErrno(errno, "making a pipe");
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

void MakeNonblocking(const Descriptor& descriptor) {
  PCHECK(fcntl(descriptor.number(), F_SETFL, O_NONBLOCK) == 0);
}

// Settings for posix_spawn: the child gets its three standard streams and no other descriptor,
// default signal handlers, no blocked signals, and a process group of its own.
class SpawnSettings {
 public:
  SpawnSettings(int in, int out, int error) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_adddup2(&files_, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files_, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files_, error, STDERR_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&files_, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnSettings() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&files_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  const posix_spawn_file_actions_t* files() const { return &files_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

StatusOr<pid_t> Spawn(const ChildProcessOptions& options, const SpawnSettings& settings) {
  std::vector<char*> arguments = {const_cast<char*>(options.executable.c_str())};
  for (const std::string& one : options.arguments) {
    arguments.push_back(const_cast<char*>(one.c_str()));
  }
  arguments.push_back(nullptr);
  pid_t process = 0;
  const int error = posix_spawnp(&process, options.executable.c_str(), settings.files(),
                                 settings.attributes(), arguments.data(), environ);
  if (error != 0) return OfErrno(error, StrCat("starting ", options.executable));
  return process;
}

// Registration of one descriptor in the poller.
class Watch final : public DescriptorPoller::Watcher {
 public:
  explicit Watch(std::function<void()> on_ready) : on_ready_(std::move(on_ready)) {}
  void OnReady(uint32_t) override { on_ready_(); }

 private:
  const std::function<void()> on_ready_;
};

}  // namespace

// Kept alive by the poller's watches until the process has ended.
class ChildProcess::Run : public std::enable_shared_from_this<Run> {
 public:
  Run(RealLoop& loop, ChildProcessOptions options, OnEnd on_end)
      : loop_(loop), options_(std::move(options)), on_end_(std::move(on_end)) {}

  Status Begin();
  void Kill() {
    if (running_) kill(-process_, SIGKILL);
  }
  // Kills and reaps the process without calling on_end.
  void Abandon();

 private:
  void Watch(const Descriptor& descriptor, void (Run::*on_ready)());
  void FeedInput();
  void ReadOutput();
  void ReadError();
  // Returns true if there is nothing more to read for now; false if the loop's other events should
  // go first.
  bool ReadSome(Descriptor* from, std::string* into, size_t size_max, bool* over_limit);
  void ReadAgainLater(void (Run::*read)());
  void OnExit();
  void End(const siginfo_t& how);
  void ForgetAll();

  RealLoop& loop_;
  const ChildProcessOptions options_;
  OnEnd on_end_;
  ChildProcessEnd end_;
  size_t fed_size_ = 0;
  pid_t process_ = 0;
  bool running_ = false;
  Descriptor exit_;  // readable once the process has ended
  Descriptor input_;
  Descriptor output_;
  Descriptor error_;
  std::vector<std::shared_ptr<DescriptorPoller::Watcher>> watches_;
};

Status ChildProcess::Run::Begin() {
  NEPTUNE_ASSIGN_OR_RETURN(Pipe input, MakePipe());
  NEPTUNE_ASSIGN_OR_RETURN(Pipe output, MakePipe());
  NEPTUNE_ASSIGN_OR_RETURN(Pipe error, MakePipe());
  const SpawnSettings settings(input.reading.number(), output.writing.number(),
                               error.writing.number());
  NEPTUNE_ASSIGN_OR_RETURN(process_, Spawn(options_, settings));
  running_ = true;
  exit_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, process_, 0)));
  if (!exit_.open()) {
    const Status status = OfErrno(errno, StrCat("watching ", options_.executable));
    Abandon();
    return status;
  }
  input_ = std::move(input.writing);
  output_ = std::move(output.reading);
  error_ = std::move(error.reading);
  for (const Descriptor* pipe : {&input_, &output_, &error_}) MakeNonblocking(*pipe);
  Watch(output_, &Run::ReadOutput);
  Watch(error_, &Run::ReadError);
  Watch(input_, &Run::FeedInput);
  Watch(exit_, &Run::OnExit);
  FeedInput();
  return OkStatus();
}

void ChildProcess::Run::Watch(const Descriptor& descriptor, void (Run::*on_ready)()) {
  watches_.push_back(std::make_shared<neptune::Watch>(
      [self = shared_from_this(), on_ready] { (self.get()->*on_ready)(); }));
  loop_.descriptor_poller().Add(descriptor.number(), EPOLLIN | EPOLLOUT | EPOLLET, watches_.back());
}

// It is fine if the program does not read all of its input. The loop's thread blocks SIGPIPE, like
// all signals.
void ChildProcess::Run::FeedInput() {
  while (input_.open()) {
    const size_t left = options_.input.size() - fed_size_;
    const ssize_t written =
        left == 0 ? 0 : write(input_.number(), options_.input.data() + fed_size_, left);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) return;
    if (written <= 0) return input_.Close();
    fed_size_ += static_cast<size_t>(written);
  }
}

void ChildProcess::Run::ReadOutput() {
  if (!ReadSome(&output_, &end_.output, options_.output_size_max, &end_.output_over_limit)) {
    ReadAgainLater(&Run::ReadOutput);
  }
  if (end_.output_over_limit) Kill();
}

void ChildProcess::Run::ReadError() {
  bool ignored = false;
  if (!ReadSome(&error_, &end_.error, options_.error_size_max, &ignored)) {
    ReadAgainLater(&Run::ReadError);
  }
}

bool ChildProcess::Run::ReadSome(Descriptor* from, std::string* into, size_t size_max,
                                 bool* over_limit) {
  auto& buffer = loop_.read_buffer();
  for (int i = 0; i < kReadCountMax; ++i) {
    if (!from->open()) return true;
    const ssize_t size = read(from->number(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return true;
    if (size <= 0) {
      from->Close();
      return true;
    }
    const size_t kept = std::min(static_cast<size_t>(size), size_max - into->size());
    into->append(buffer.data(), kept);
    if (kept < static_cast<size_t>(size)) *over_limit = true;
  }
  return false;
}

void ChildProcess::Run::ReadAgainLater(void (Run::*read)()) {
  loop_.Post([self = shared_from_this(), read] {
    if (self->running_) (self.get()->*read)();
  });
}

// Descendants are killed before the process is reaped, because until then its process group id
// cannot be reused. The output of the process itself is in the pipes.
void ChildProcess::Run::OnExit() {
  if (!running_) return;
  siginfo_t how{};
  if (waitid(P_PID, static_cast<id_t>(process_), &how, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      how.si_pid == 0) {
    return;  // not yet; the poller will report it again
  }
  const auto self = shared_from_this();
  Kill();
  bool ignored = false;
  while (!end_.output_over_limit &&
         !ReadSome(&output_, &end_.output, options_.output_size_max, &end_.output_over_limit)) {
  }
  (void)ReadSome(&error_, &end_.error, options_.error_size_max, &ignored);
  running_ = false;
  rusage used{};
  wait4(process_, nullptr, 0, &used);
  end_.processor_time = FromTimeval(used.ru_utime) + FromTimeval(used.ru_stime);
  ForgetAll();
  End(how);
}

void ChildProcess::Run::End(const siginfo_t& how) {
  if (how.si_code == CLD_EXITED) {
    end_.exit_status = how.si_status;
  } else {
    end_.signal = how.si_status;
  }
  if (on_end_) std::exchange(on_end_, nullptr)(std::move(end_));
}

void ChildProcess::Run::Abandon() {
  on_end_ = nullptr;
  if (!running_) return;
  Kill();
  running_ = false;
  siginfo_t ignored{};
  while (waitid(P_PID, static_cast<id_t>(process_), &ignored, WEXITED) != 0 && errno == EINTR) {
  }
  ForgetAll();
}

void ChildProcess::Run::ForgetAll() {
  for (const auto& watch : watches_) loop_.descriptor_poller().Forget(watch.get());
  // Keep the watches until the next turn: one of them may be the caller.
  loop_.Post([watches = std::move(watches_)] {});
  watches_.clear();
  for (Descriptor* one : {&exit_, &input_, &output_, &error_}) one->Close();
}

ChildProcess::ChildProcess(std::shared_ptr<Run> run) : run_(std::move(run)) {}

ChildProcess::~ChildProcess() { run_->Abandon(); }

StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(ChildProcessOptions options,
                                                            OnEnd on_end) {
  auto* const loop = dynamic_cast<RealLoop*>(Loop::Current());
  if (loop == nullptr) {
    return Unimplemented("starting ", options.executable,
                         ": child processes need a loop of the real world");
  }
  auto run = std::make_shared<Run>(*loop, std::move(options), std::move(on_end));
  NEPTUNE_RETURN_IF_ERROR(run->Begin());
  return std::unique_ptr<ChildProcess>(new ChildProcess(std::move(run)));
}

void ChildProcess::Kill() { run_->Kill(); }

}  // namespace neptune

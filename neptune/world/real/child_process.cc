#include "neptune/world/real/child_process.h"

#include <fcntl.h>
#include <glog/logging.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>

#include "neptune/base/descriptor.h"
#include "neptune/base/process.h"
#include "neptune/base/strings.h"
#include "neptune/world/real/real_loop.h"

namespace neptune {
namespace {

// Maximum reads in a row before the loop's other events get a turn.
constexpr int kReadCountMax = 16;

void MakeNonblocking(const Descriptor& descriptor) {
  PCHECK(fcntl(descriptor.number(), F_SETFL, O_NONBLOCK) == 0);
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
    if (process_.has_value()) process_->SendKill();
  }
  // Kills and reaps the process without calling on_end.
  void Abandon();

 private:
  Status WatchAll();
  Status Watch(const Descriptor& descriptor, void (Run::*on_ready)());
  void FeedInput();
  void ReadOutput();
  void ReadError();
  struct Reading {
    bool is_drained =
        false;  // nothing more for now; false: the loop's other events should go first
    bool over_limit = false;  // bytes over the limit were dropped
  };
  Reading ReadSome(Descriptor* from, std::string* into, size_t size_max);
  // The same with what the process writes to its standard output.
  Reading ReadSomeOutput();
  void ReadAgainLater(void (Run::*read)());
  void OnExit();
  void CloseWatched(Descriptor* descriptor);
  void ForgetAll();

  RealLoop& loop_;
  const ChildProcessOptions options_;
  OnEnd on_end_;
  ChildProcessEnd end_;
  size_t fed_size_ = 0;
  std::optional<Process> process_;  // unset: not started, or reaped
  Descriptor exit_;                 // readable once the process has ended
  Descriptor input_;
  Descriptor output_;
  Descriptor error_;
  std::vector<std::shared_ptr<DescriptorPoller::Watcher>> watches_;
};

Status ChildProcess::Run::Begin() {
  NEPTUNE_ASSIGN_OR_RETURN(Pipe input, MakePipe());
  NEPTUNE_ASSIGN_OR_RETURN(Pipe output, MakePipe());
  NEPTUNE_ASSIGN_OR_RETURN(Pipe error, MakePipe());
  ProcessOptions settings{.command = {options_.executable}};
  settings.command.insert(settings.command.end(), options_.arguments.begin(),
                          options_.arguments.end());
  settings.input = input.reading.number();
  settings.output = output.writing.number();
  settings.error = error.writing.number();
  settings.in_own_group = true;
  NEPTUNE_ASSIGN_OR_RETURN(Process process, Process::Start(settings));
  exit_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, process.id(), 0)));
  if (!exit_.open()) {
    return ResourceExhausted("watching ", options_.executable, ": ", std::strerror(errno));
  }
  process_.emplace(std::move(process));
  input_ = std::move(input.writing);
  output_ = std::move(output.reading);
  error_ = std::move(error.reading);
  for (const Descriptor* pipe : {&input_, &output_, &error_}) MakeNonblocking(*pipe);
  const Status watched = WatchAll();
  if (!watched.ok()) {
    Abandon();
    return Annotate(watched, StrCat("starting ", options_.executable));
  }
  FeedInput();
  return OkStatus();
}

Status ChildProcess::Run::WatchAll() {
  NEPTUNE_RETURN_IF_ERROR(Watch(output_, &Run::ReadOutput));
  NEPTUNE_RETURN_IF_ERROR(Watch(error_, &Run::ReadError));
  NEPTUNE_RETURN_IF_ERROR(Watch(input_, &Run::FeedInput));
  return Watch(exit_, &Run::OnExit);
}

Status ChildProcess::Run::Watch(const Descriptor& descriptor, void (Run::*on_ready)()) {
  watches_.push_back(std::make_shared<neptune::Watch>(
      [self = shared_from_this(), on_ready] { (self.get()->*on_ready)(); }));
  return loop_.descriptor_poller().Add(descriptor.number(), EPOLLIN | EPOLLOUT | EPOLLET,
                                       watches_.back());
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
    if (written <= 0) return CloseWatched(&input_);
    fed_size_ += static_cast<size_t>(written);
  }
}

void ChildProcess::Run::ReadOutput() {
  if (!ReadSomeOutput().is_drained) ReadAgainLater(&Run::ReadOutput);
  if (end_.output_over_limit) Kill();
}

void ChildProcess::Run::ReadError() {
  if (!ReadSome(&error_, &end_.error, options_.error_size_max).is_drained) {
    ReadAgainLater(&Run::ReadError);
  }
}

ChildProcess::Run::Reading ChildProcess::Run::ReadSomeOutput() {
  const Reading reading = ReadSome(&output_, &end_.output, options_.output_size_max);
  if (reading.over_limit) end_.output_over_limit = true;
  return reading;
}

ChildProcess::Run::Reading ChildProcess::Run::ReadSome(Descriptor* from, std::string* into,
                                                       size_t size_max) {
  Reading reading;
  auto& buffer = loop_.read_buffer();
  for (int i = 0; i < kReadCountMax; ++i) {
    if (!from->open()) {
      reading.is_drained = true;
      return reading;
    }
    const ssize_t size = read(from->number(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) {
      if (size == 0 || errno != EAGAIN) CloseWatched(from);
      reading.is_drained = true;
      return reading;
    }
    const size_t kept = std::min(static_cast<size_t>(size), size_max - into->size());
    into->append(buffer.data(), kept);
    if (kept < static_cast<size_t>(size)) reading.over_limit = true;
  }
  return reading;
}

void ChildProcess::Run::ReadAgainLater(void (Run::*read)()) {
  loop_.Post([self = shared_from_this(), read] {
    if (self->process_.has_value()) (self.get()->*read)();
  });
}

// The output of the process itself is in the pipes; its descendants are killed with it.
void ChildProcess::Run::OnExit() {
  if (!process_.has_value()) return;
  const std::optional<ProcessEnd> end = process_->TakeEnd();
  if (!end.has_value()) return;  // not yet; the poller will report it again
  const auto self = shared_from_this();
  process_.reset();
  while (!end_.output_over_limit && !ReadSomeOutput().is_drained) {
  }
  ReadSome(&error_, &end_.error, options_.error_size_max);
  static_cast<ProcessEnd&>(end_) = *end;
  ForgetAll();
  if (on_end_) std::exchange(on_end_, nullptr)(std::move(end_));
}

void ChildProcess::Run::Abandon() {
  on_end_ = nullptr;
  if (!process_.has_value()) return;
  process_.reset();
  ForgetAll();
}

// Closing is not enough: another process that is just being spawned may share the descriptor, and
// the poller would report it to a watch that is gone.
void ChildProcess::Run::CloseWatched(Descriptor* descriptor) {
  if (!descriptor->open()) return;
  loop_.descriptor_poller().Silence(descriptor->number());
  descriptor->Close();
}

void ChildProcess::Run::ForgetAll() {
  for (const auto& watch : watches_) loop_.descriptor_poller().Forget(watch.get());
  // Keep the watches until the next turn: one of them may be the caller.
  loop_.Post([watches = std::move(watches_)] {});
  watches_.clear();
  for (Descriptor* one : {&exit_, &input_, &output_, &error_}) CloseWatched(one);
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

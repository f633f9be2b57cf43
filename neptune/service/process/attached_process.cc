#include "neptune/service/process/attached_process.h"

#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/thread/user_thread.h"
#include "neptune/wire/incoming_call.h"
#include "neptune/world/real/child_process.h"

namespace neptune {
namespace {

// A slot among the programs that run at once.
class Place {
 public:
  Place(std::atomic<int>* taken_count, int count_max)
      : taken_count_(*taken_count), taken_(taken_count_.fetch_add(1) < count_max) {}
  ~Place() { --taken_count_; }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  bool taken() const { return taken_; }

 private:
  std::atomic<int>& taken_count_;
  const bool taken_;
};

std::string FileName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

// The error of a program that ran to its end without a result; OK if it has one.
Status OfEnd(const ChildProcessEnd& end, const AttachedProcessLimits& limits) {
  if (end.output_over_limit) {
    return ResourceExhausted("its output exceeds ", limits.output_size_max, " bytes");
  }
  const std::string said = end.error.empty() ? "" : StrCat(": ", FirstLine(end.error));
  if (end.signal != 0) {
    return Internal("killed by signal ", end.signal, " (", strsignal(end.signal), ")", said);
  }
  if (end.exit_status != 0) return Internal("exited with status ", end.exit_status, said);
  return OkStatus();
}

// Connects a program with the user-level thread that waits for it.
class Attachment {
 public:
  Attachment(TimePoint deadline, IncomingCall* call) : deadline_(deadline), call_(call) {}

  Status Start(ChildProcessOptions options) {
    NEPTUNE_ASSIGN_OR_RETURN(
        process_, ChildProcess::Start(std::move(options),
                                      [this, self = ThreadRef(UserThread::Current())](auto end) {
                                        end_ = std::move(end);
                                        self->Wake();
                                      }));
    return OkStatus();
  }

  // Parks until the process has been reaped. Returns why it was abandoned, or OK if it ended by
  // itself.
  Status Wait() {
    const CancelAction wake_me(call_, [self = ThreadRef(UserThread::Current())] { self->Wake(); });
    Status given_up;
    while (!end_ && given_up.ok()) {
      const ParkResult parked = this_thread::Park(deadline_);
      if (!end_) given_up = WhyGiveUp(parked);
    }
    if (!given_up.ok()) process_->Kill();
    while (!end_) this_thread::ParkUntilWoken();
    return given_up;
  }

  ChildProcessEnd& end() { return *end_; }

 private:
  Status WhyGiveUp(ParkResult parked) const {
    if (parked == ParkResult::kStopping) return Cancelled("the node stops");
    if (call_ != nullptr && call_->cancelled()) return Cancelled("the caller is gone");
    if (this_thread::Now() >= deadline_) return DeadlineExceeded("still running at the deadline");
    return OkStatus();
  }

  const TimePoint deadline_;
  IncomingCall* const call_;
  std::unique_ptr<ChildProcess> process_;
  std::optional<ChildProcessEnd> end_;
};

}  // namespace

StatusOr<std::string> AttachedProcesses::Run(const RequestContext& request,
                                             AttachedProgram program) {
  return Run(std::move(program), request.deadline(), request.call().get());
}

StatusOr<std::string> AttachedProcesses::Run(AttachedProgram program, TimePoint deadline) {
  return Run(std::move(program), deadline, nullptr);
}

StatusOr<std::string> AttachedProcesses::Run(AttachedProgram program, TimePoint deadline,
                                             IncomingCall* call) {
  const Place place(&running_count_, limits_.running_count_max);
  const std::string name = FileName(program.executable);
  if (!place.taken()) {
    return ResourceExhausted("running ", name, ": ", limits_.running_count_max,
                             " programs are already running");
  }
  ChildProcessOptions options;
  options.executable = std::move(program.executable);
  options.arguments = std::move(program.arguments);
  options.input = std::move(program.input);
  options.output_size_max = limits_.output_size_max;
  Attachment attachment(deadline, call);
  NEPTUNE_RETURN_IF_ERROR(attachment.Start(std::move(options)));
  Status status = attachment.Wait();
  this_thread::CountWork(attachment.end().processor_time);
  if (status.ok()) status = OfEnd(attachment.end(), limits_);
  if (!status.ok()) return Annotate(status, StrCat("running ", name));
  return std::move(attachment.end().output);
}

}  // namespace neptune

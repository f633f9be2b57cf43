#include "neptune/base/process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "neptune/base/descriptor.h"
#include "neptune/base/strings.h"

namespace neptune {
namespace {

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

// What the child needs between vfork and exec, prepared by the parent.
struct Plan {
  const ProcessOptions& options;
  char* const* arguments;
  char* const* environment;
  pid_t parent;
  sigset_t signals;  // the parent's mask
  int report;        // descriptor that gets the error number
};

// Between vfork and exec: system calls only, since the memory is the parent's. Those of descriptors
// bypass the C library, whose names the program may have taken over (neptune/interpose).
bool SetUp(const Plan& plan) {
  const ProcessOptions& options = plan.options;
  if (options.ends_with_caller) {
    prctl(PR_SET_PDEATHSIG, options.caller_end_signal);
    if (getppid() != plan.parent) _exit(1);
  }
  if (options.in_own_group) setpgid(0, 0);
  if (options.network >= 0 && setns(options.network, CLONE_NEWNET) != 0) return false;
  if (!options.folder.empty() && chdir(options.folder.c_str()) != 0) return false;
  if (options.processor >= 0) {
    cpu_set_t processors;
    CPU_ZERO(&processors);
    CPU_SET(options.processor, &processors);
    sched_setaffinity(0, sizeof(processors), &processors);
  }
  if (options.real_time_priority > 0) {
    const sched_param parameters{options.real_time_priority};
    sched_setscheduler(0, SCHED_FIFO, &parameters);  // if this user may
  }
  for (const auto& [from, to] :
       {std::pair(options.input, STDIN_FILENO), std::pair(options.output, STDOUT_FILENO),
        std::pair(options.error, STDERR_FILENO)}) {
    if (from < 0) continue;
    const bool is_set =
        from == to ? syscall(SYS_fcntl, from, F_SETFD, 0) == 0 : syscall(SYS_dup2, from, to) >= 0;
    if (!is_set) return false;
  }
  // Keeps the report open until exec.
  return syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) == 0;
}

void ResetSignals() {
  struct sigaction ordinary {};
  ordinary.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &ordinary, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void Become(const Plan& plan) {
  ResetSignals();
  if (SetUp(plan)) execvpe(plan.arguments[0], plan.arguments, plan.environment);
  const int error = errno;
  (void)!syscall(SYS_write, plan.report, &error, sizeof(error));
  _exit(127);
}

// vfork, with all signals blocked in the parent: no handler may run in the child.
__attribute__((noinline)) pid_t Spawn(const Plan& plan) {
  const pid_t child = vfork();
  if (child == 0) Become(plan);
  return child;
}

// The caller's environment with these variables, which may replace some of it; ends with null.
std::vector<char*> EnvironmentWith(const std::vector<std::string>& variables) {
  std::vector<char*> environment;
  for (const std::string& variable : variables) {
    environment.push_back(const_cast<char*>(variable.c_str()));
  }
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view name =
        std::string_view(*variable).substr(0, std::string_view(*variable).find('=') + 1);
    const bool is_replaced =
        std::any_of(variables.begin(), variables.end(),
                    [&](const std::string& other) { return other.starts_with(name); });
    if (!is_replaced) environment.push_back(*variable);
  }
  environment.push_back(nullptr);
  return environment;
}

Duration FromTimeval(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

}  // namespace

StatusOr<Pipe> MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return OfErrno(errno, "making a pipe");
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

StatusOr<Process> Process::Start(const ProcessOptions& options) {
  const std::string doing = StrCat("starting ", options.command[0]);
  std::vector<char*> arguments;
  for (const std::string& word : options.command) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  // A pipe reports the error, because under ThreadSanitizer the child does not share the memory.
  NEPTUNE_ASSIGN_OR_RETURN(Pipe report, MakePipe());
  const std::vector<char*> environment = EnvironmentWith(options.environment);
  Plan plan{options, arguments.data(), environment.data(), getpid(), {}, report.writing.number()};
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &plan.signals);
  const pid_t child = Spawn(plan);
  const int spawn_error = errno;
  pthread_sigmask(SIG_SETMASK, &plan.signals, nullptr);
  if (child < 0) return OfErrno(spawn_error, doing);
  Process process(child, options.in_own_group);
  report.writing.Close();
  int error = 0;
  ssize_t size;
  do {
    size = read(report.reading.number(), &error, sizeof(error));
  } while (size < 0 && errno == EINTR);
  if (size == sizeof(error)) return OfErrno(error, doing);
  return process;
}

void Process::Signal(int signal) const { kill(id_, signal); }

void Process::SendKill() const { kill(in_own_group_ ? -id_ : id_, SIGKILL); }

std::optional<ProcessEnd> Process::TakeEnd() {
  siginfo_t how{};
  if (waitid(P_PID, static_cast<id_t>(id_), &how, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      how.si_pid == 0) {
    return std::nullopt;
  }
  return Reap();
}

ProcessEnd Process::Wait() {
  siginfo_t how{};
  while (waitid(P_PID, static_cast<id_t>(id_), &how, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  return Reap();
}

ProcessEnd Process::Kill() {
  if (!running()) return {};
  SendKill();
  return Wait();
}

// REQUIRES: it has ended. Descendants are killed before it is reaped, because until then its
// process group id cannot be reused.
ProcessEnd Process::Reap() {
  if (in_own_group_) kill(-id_, SIGKILL);
  int status = 0;
  rusage used{};
  while (wait4(id_, &status, 0, &used) < 0 && errno == EINTR) {
  }
  id_ = 0;
  ProcessEnd end;
  if (WIFEXITED(status)) end.exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  end.processor_time = FromTimeval(used.ru_utime) + FromTimeval(used.ru_stime);
  return end;
}

}  // namespace neptune

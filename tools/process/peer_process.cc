#include "tools/process/peer_process.h"

#include <poll.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <thread>

#include "neptune/base/strings.h"

namespace search::lab {
namespace {

using neptune::Status;
using neptune::StatusOr;

constexpr int kSilenceMsMax = 30'000;
constexpr int kEndMsMax = 2'000;
constexpr size_t kLineSizeMax = 4096;
constexpr int kServerProcessor = 0;
constexpr int kCallerProcessor = 1;
// Real-time priority, so that other work on the machine does not interfere; the lowest suffices.
constexpr int kPeerPriority = 10;

// While it lives, the calling thread has a higher priority than the peers, if permitted: on a
// machine with as many processors as peers, it would otherwise read the clock only after they have
// ended.
class AheadOfPeers {
 public:
  AheadOfPeers() : before_policy_(sched_getscheduler(0)) {
    sched_getparam(0, &before_);
    const sched_param parameters{kPeerPriority + 1};
    sched_setscheduler(0, SCHED_FIFO, &parameters);
  }
  ~AheadOfPeers() { sched_setscheduler(0, before_policy_, &before_); }
  AheadOfPeers(const AheadOfPeers&) = delete;
  AheadOfPeers& operator=(const AheadOfPeers&) = delete;

 private:
  const int before_policy_;
  sched_param before_{};
};

// The number after "NAME=" in a line of them.
StatusOr<double> Field(const std::string& line, const std::string& name) {
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (word.rfind(name + "=", 0) == 0) return std::stod(word.substr(name.size() + 1));
  }
  return neptune::Unavailable("'", line, "' has no ", name);
}

}  // namespace

StatusOr<std::string> FindProgram(const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  for (const fs::path& root :
       {fs::path("."), fs::path(self.string() + ".runfiles/neptune_search")}) {
    const fs::path path = root / name;
    if (fs::exists(path, error)) return path.string();
  }
  return neptune::NotFound("the program ", name, " is not in the folder of this program");
}

StatusOr<std::unique_ptr<PeerProcess>> PeerProcess::Start(const std::string& program,
                                                          const std::vector<std::string>& arguments,
                                                          int processor, int network) {
  NEPTUNE_ASSIGN_OR_RETURN(std::string path, FindProgram(program));
  NEPTUNE_ASSIGN_OR_RETURN(neptune::Pipe input, neptune::MakePipe());
  NEPTUNE_ASSIGN_OR_RETURN(neptune::Pipe output, neptune::MakePipe());
  neptune::ProcessOptions options{.command = {std::move(path)}};
  options.command.insert(options.command.end(), arguments.begin(), arguments.end());
  options.input = input.reading.number();
  options.output = output.writing.number();
  options.ends_with_caller = true;
  options.network = network;
  if (processor >= 0) {
    options.processor =
        processor % static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    options.real_time_priority = kPeerPriority;
  }
  NEPTUNE_ASSIGN_OR_RETURN(neptune::Process process, neptune::Process::Start(options));
  return std::unique_ptr<PeerProcess>(new PeerProcess(
      program, std::move(process), std::move(input.writing), std::move(output.reading)));
}

PeerProcess::~PeerProcess() {
  input_.Close();
  // Its output ends when the process exits.
  pollfd readable{output_.number(), POLLIN, 0};
  char bytes[kLineSizeMax];
  ssize_t size = 1;
  while (size > 0 && poll(&readable, 1, kEndMsMax) > 0) {
    size = read(output_.number(), bytes, sizeof(bytes));
  }
  if (size <= 0) (void)process_.Wait();  // otherwise it is killed
}

StatusOr<std::string> PeerProcess::ReadLine() {
  while (true) {
    if (const size_t end = read_.find('\n'); end != std::string::npos) {
      std::string line = read_.substr(0, end);
      read_.erase(0, end + 1);
      return line;
    }
    if (read_.size() > kLineSizeMax)
      return neptune::Unavailable(program_, " wrote an overlong line");
    pollfd readable{output_.number(), POLLIN, 0};
    const int ready = poll(&readable, 1, kSilenceMsMax);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return neptune::DeadlineExceeded(program_, " wrote nothing");
    char bytes[kLineSizeMax];
    const ssize_t size = read(output_.number(), bytes, sizeof(bytes));
    if (size <= 0) return neptune::Unavailable(program_, " exited; see its output above");
    read_.append(bytes, static_cast<size_t>(size));
  }
}

void PeerProcess::WriteLine(std::string line) {
  line += '\n';
  // The lab ignores SIGPIPE.
  std::signal(SIGPIPE, SIG_IGN);
  (void)!write(input_.number(), line.data(), line.size());
}

double PeerProcess::ProcessorSeconds() const {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(process_.id(), &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

StatusOr<PeerLoad> RunPeers(const PeerRun& run) {
  std::vector<std::string> serve = {"serve"};
  serve.insert(serve.end(), run.server_arguments.begin(), run.server_arguments.end());
  const std::string folder = "tests/peers/";
  NEPTUNE_ASSIGN_OR_RETURN(auto server,
                           PeerProcess::Start(folder + run.server, serve, kServerProcessor));
  NEPTUNE_ASSIGN_OR_RETURN(const std::string port, server->ReadLine());
  std::vector<std::string> ask = {run.caller_command, "--port=" + port.substr(port.find(' ') + 1)};
  ask.insert(ask.end(), run.caller_arguments.begin(), run.caller_arguments.end());
  // Declared before `ahead`, so that the lab waits for their ends at its own priority.
  std::unique_ptr<PeerProcess> caller;
  const AheadOfPeers ahead;
  NEPTUNE_ASSIGN_OR_RETURN(caller, PeerProcess::Start(folder + run.caller, ask, kCallerProcessor));
  NEPTUNE_RETURN_IF_ERROR(caller->ReadLine().status());  // "begin"
  PeerLoad load;
  load.server_processor_s = -server->ProcessorSeconds();
  NEPTUNE_ASSIGN_OR_RETURN(const std::string end, caller->ReadLine());
  load.server_processor_s += server->ProcessorSeconds();
  constexpr double kNsPerUs = 1e3;
  NEPTUNE_ASSIGN_OR_RETURN(load.call_count, Field(end, "count"));
  NEPTUNE_ASSIGN_OR_RETURN(load.lost_count, Field(end, "lost"));
  NEPTUNE_ASSIGN_OR_RETURN(load.p10_us, Field(end, "p10_ns"));
  NEPTUNE_ASSIGN_OR_RETURN(load.p50_us, Field(end, "p50_ns"));
  NEPTUNE_ASSIGN_OR_RETURN(load.p99_us, Field(end, "p99_ns"));
  load.p10_us /= kNsPerUs;
  load.p50_us /= kNsPerUs;
  load.p99_us /= kNsPerUs;
  if (load.call_count <= 0 || load.server_processor_s <= 0) {
    return neptune::Unavailable(run.caller, " got no answer from ", run.server);
  }
  return load;
}

}  // namespace search::lab

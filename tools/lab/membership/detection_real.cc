#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <memory>
#include <sstream>
#include <thread>
#include <utility>

#include "neptune/base/strings.h"
#include "tools/lab/membership/detection.h"
#include "tools/process/peer_process.h"

namespace search::lab {
namespace {

using neptune::Duration;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;
using neptune::TimePoint;
using std::chrono::milliseconds;

constexpr char kProgram[] = "tools/lab/membership/member_node";
constexpr int64_t kCalmMs = 1'500;
constexpr int64_t kAftermathMs = 7'000;
// Busy kernel threads per processor.
constexpr int kBurnsAProcessor = 2;

// Names separated by commas, or "-" if there are none.
std::set<std::string> Names(const std::string& text) {
  std::set<std::string> names;
  std::istringstream list(text);
  for (std::string name; std::getline(list, name, ',');) {
    if (name != "-") names.insert(name);
  }
  return names;
}

TimePoint AtNs(int64_t ns) { return TimePoint(Duration(ns)); }

class RealDetection {
 public:
  RealDetection(const std::string& scenario, const RunContext& context)
      : scenario_(scenario), context_(context) {}

  StatusOr<DetectionNotes> Run() {
    NEPTUNE_RETURN_IF_ERROR(StartAll());
    NEPTUNE_RETURN_IF_ERROR(Wait(kCalmMs));
    NEPTUNE_RETURN_IF_ERROR(
        SendToCallers(StrCat("load ", kDetectionRate, " ", neptune::ToMillis(kDetectionCost), " ",
                             neptune::ToMillis(kDetectionDeadline))));
    NEPTUNE_RETURN_IF_ERROR(Wait(kCalmMs));
    NEPTUNE_ASSIGN_OR_RETURN(const std::string now, Ask(Clock(), "now"));
    notes_.event = AtNs(std::stoll(now));
    NEPTUNE_RETURN_IF_ERROR(Happen());
    NEPTUNE_RETURN_IF_ERROR(Wait(AftermathMs()));
    NEPTUNE_RETURN_IF_ERROR(SendToCallers("unload"));
    for (const auto& [name, process] : nodes_) {
      if (name != gone_) NEPTUNE_RETURN_IF_ERROR(ReadReport(name, *process));
    }
    if (scenario_ == "pause") nodes_.at(kDetectionVictim)->Signal(SIGKILL);
    return std::move(notes_);
  }

 private:
  Status StartAll() {
    static std::atomic<int> run_count{0};
    const int run = ++run_count;
    const std::string cluster = StrCat("--cluster=members-", getpid(), "-", run);
    const std::string port = StrCat("--multicast_port=", 20'000 + (getpid() * 31 + run) % 20'000);
    const std::string balancing = StrCat("--balancing=", DetectionBalancing(scenario_));
    std::vector<std::string> names;
    for (int i = 0; i < kDetectionServerCount; ++i) names.push_back(StrCat("s", i));
    for (int i = 0; i < kDetectionCallerCount; ++i) names.push_back(StrCat("c", i));
    for (const std::string& name : names) {
      NEPTUNE_ASSIGN_OR_RETURN(
          nodes_[name],
          PeerProcess::Start(kProgram, {cluster, port, balancing, StrCat("--node=", name)}, -1));
    }
    for (const auto& [name, process] : nodes_) {
      NEPTUNE_RETURN_IF_ERROR(process->ReadLine().status());  // "ready"
    }
    return neptune::OkStatus();
  }

  PeerProcess& Clock() { return *nodes_.at("c0"); }

  static StatusOr<std::string> Ask(PeerProcess& process, const std::string& line) {
    process.WriteLine(line);
    return process.ReadLine();
  }

  // Several short waits, because a process without output for a long time counts as dead.
  Status Wait(int64_t ms) {
    constexpr int64_t kPieceMs = 5'000;
    for (; ms > 0; ms -= kPieceMs) {
      NEPTUNE_RETURN_IF_ERROR(Ask(Clock(), StrCat("wait ", std::min(ms, kPieceMs))).status());
    }
    return neptune::OkStatus();
  }

  Status SendToCallers(const std::string& line) {
    for (int i = 0; i < kDetectionCallerCount; ++i) {
      NEPTUNE_RETURN_IF_ERROR(Ask(*nodes_.at(StrCat("c", i)), line).status());
    }
    return neptune::OkStatus();
  }

  int64_t AftermathMs() const {
    if (scenario_ == "saturation") return context_.Pick<int64_t>(2'000, 8'000, 200'000);
    return kAftermathMs;
  }

  Status Happen() {
    PeerProcess& victim = *nodes_.at(kDetectionVictim);
    if (scenario_ == "kill") {
      gone_ = kDetectionVictim;
      victim.Signal(SIGKILL);
    } else if (scenario_ == "pause") {
      gone_ = kDetectionVictim;
      victim.Signal(SIGSTOP);
    } else if (scenario_ == "hang") {
      return Ask(victim, "hang").status();
    } else if (scenario_ == "leave") {
      gone_ = kDetectionVictim;
      NEPTUNE_RETURN_IF_ERROR(Ask(victim, "leave").status());
      victim.Signal(SIGKILL);  // its sockets close, as when a program that left ends
    } else if (scenario_ == "saturation") {
      const auto processors = static_cast<int>(std::thread::hardware_concurrency());
      NEPTUNE_ASSIGN_OR_RETURN(
          burner_,
          PeerProcess::Start(kProgram, {StrCat("--burn=", kBurnsAProcessor * processors)}, -1));
    }
    return neptune::OkStatus();
  }

  Status ReadReport(const std::string& name, PeerProcess& process) {
    process.WriteLine("report");
    while (true) {
      NEPTUNE_ASSIGN_OR_RETURN(const std::string line, process.ReadLine());
      if (line == "end") return neptune::OkStatus();
      std::istringstream words(line);
      std::string verb;
      words >> verb;
      if (verb == "sight") ReadSight(name, words);
      if (verb == "hurt") ReadHurt(words);
      if (verb == "count") {
        uint64_t calls = 0;
        uint64_t expelled = 0;
        words >> calls >> expelled;
        notes_.call_count += calls;
        notes_.expelled_count += expelled;
      }
    }
  }

  void ReadSight(const std::string& name, std::istringstream& words) {
    int64_t ns = 0;
    std::string known;
    std::string offered;
    words >> ns >> known >> offered;
    notes_.sights[name].push_back({AtNs(ns), Names(known), Names(offered)});
  }

  void ReadHurt(std::istringstream& words) {
    int64_t begin_ns = 0;
    int64_t end_ns = 0;
    int ok = 0;
    words >> begin_ns >> end_ns >> ok;
    notes_.hurt.push_back({AtNs(begin_ns), AtNs(end_ns), ok == 1});
  }

  const std::string scenario_;
  const RunContext& context_;
  std::map<std::string, std::unique_ptr<PeerProcess>> nodes_;
  std::unique_ptr<PeerProcess> burner_;
  std::string gone_;
  DetectionNotes notes_;
};

}  // namespace

StatusOr<DetectionNotes> DetectInReal(const std::string& scenario, const RunContext& context) {
  return RealDetection(scenario, context).Run();
}

}  // namespace search::lab

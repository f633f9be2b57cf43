// The cost of a wait in a capsule, and of a call that a device's helper thread executes.

#include <unistd.h>

#include <sstream>
#include <string>

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/process/peer_process.h"

namespace search::lab {
namespace {

using neptune::StatusOr;
using neptune::StrCat;

constexpr char kWhat[] = "waits and shipped calls";

Point OnlyPoint() { return Point{{"measured", kWhat}}; }

// "NAME_ns=VALUE ..." in microseconds.
StatusOr<Measurement> Parse(const std::string& line) {
  Measurement measurement;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const size_t end = word.find("_ns=");
    if (end == std::string::npos) return neptune::Unavailable("park_cost said '", line, "'");
    measurement[word.substr(0, end)] = std::stod(word.substr(end + 4)) / 1e3;
  }
  measurement["device_over_handoff"] = measurement["device"] / measurement["handoff"];
  return measurement;
}

StatusOr<Measurement> Run(const Point&, const RunContext& context) {
  const int rounds = context.Pick(500, 5'000, 20'000);
  NEPTUNE_ASSIGN_OR_RETURN(
      const auto program,
      PeerProcess::Start("tools/lab/capsules/park_cost",
                         {StrCat("--rounds=", rounds), StrCat("--device_rounds=", rounds / 5),
                          StrCat("--multicast_port=", 20'000 + getpid() % 20'000)},
                         1));
  NEPTUNE_ASSIGN_OR_RETURN(const std::string line, program->ReadLine());
  return Parse(line);
}

void Judge(const Results& results, Judgement* judgement) {
  const Point point = OnlyPoint();
  const auto shown = [&](const char* what, const char* metric) {
    judgement->Shown(what, "", results.Median(point, metric), "us");
  };
  const Estimate migration = results.Median(point, "migration");
  judgement->AtMost("main pool, capsule and back, in excess of the system calls", "16.5 us",
                    migration, 1.0, "us");
  judgement->AtMost("the same in any build", "16.5 us", migration, 16.5, "us").Shape();
  shown("parking and waking outside of capsules, in excess of the system calls", "park");
  shown("the system calls of two such waits", "bare");
  judgement->AtMost("a byte to /dev/null by a helper thread, relative to a bare hand-off", "",
                    results.Median(point, "device_over_handoff"), 1.2, "x");
  shown("by a helper thread", "device");
  shown("by a bare hand-off", "handoff");
  judgement->Note(
      "Waits are measured in processor time of the waiting thread, hand-offs in elapsed time. "
      "System calls are counted as the event loop makes them: each turn polls its descriptors, "
      "and every ninth turn also the outer poller.");
}

}  // namespace

Experiment CapMigration() {
  Experiment experiment;
  experiment.name = "cap_migration";
  experiment.title = "Cost of entering a capsule to wait and returning";
  experiment.source = "[Chu05] VI.B: 16.5 us";
  experiment.setup =
      "A long request of a node and an ordinary thread pass a byte back and forth over a socket; "
      "each byte is written after the other side has parked. The request leaves its main pool, "
      "enters the default capsule, parks, is woken, leaves the capsule and returns. The paper "
      "migrates the thread between kernel threads; here it stays on its kernel thread. The same "
      "is measured without capsules, and with the system calls alone. A call on a device is "
      "executed by a helper thread, and is compared with two kernel threads that do nothing but "
      "hand over. All variants run alternately in one process on one processor.";
  experiment.worlds = {WorldKind::kReal};
  experiment.parallel = false;
  experiment.seeds = {.smoke = 1, .quick = 7, .full = 31};
  experiment.points = [](Length) { return std::vector<Point>{OnlyPoint()}; };
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab

// The program //tools:bench_index: our index behind the command line of engine benchmarks.

#include <gflags/gflags.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "tools/bench_index/answer_check.h"
#include "tools/bench_index/comparison.h"
#include "tools/bench_index/index_bench.h"
#include "tools/bench_index/timing_table.h"
#include "tools/streams/line_reader.h"
#include "tools/terminal/caller_path.h"
#include "tools/terminal/command_line.h"
#include "tools/terminal/progress.h"

DEFINE_bool(positions, true, "build: ignored; the index always has positions");
DEFINE_int32(bench, 0, "query: number of timed passes, instead of printing answers; at most 1,000");
DEFINE_int32(warmup, 1, "query: number of warm-up passes before the timed ones; at most 1,000");
DEFINE_string(tsv, "", "query: output file of the times; default: standard output");
DEFINE_string(label, "neptune", "query, compare: name of this engine in the times");
DEFINE_bool(reordered, false,
            "build: reorder documents so that similar ones are adjacent; compare: the documents of "
            "all engines are "
            "reordered, so the bounds are stricter");
DEFINE_bool(word_sequences, false,
            "compare: this index holds word sequences, so the bounds for phrases are stricter");
DEFINE_bool(require_bounds, false, "compare: exit with status 1 unless every bound is reached");

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::Status;

constexpr size_t kCommandSizeMax = size_t{1} << 20;
constexpr size_t kTsvSizeMax = size_t{256} << 20;
constexpr int kPassesMax = 1000;

constexpr char kUsage[] =
    "Benchmarks the index core against other engines; README.md has the conditions.\n\n"
    "  bench_index build DIR < docs.jsonl\n"
    "  bench_index query DIR < commands.tsv\n"
    "  bench_index query DIR --bench 5 --tsv ours.tsv < commands.tsv\n"
    "  bench_index compare ours.tsv peer.tsv ...\n"
    "  bench_index agree ours.txt peer.txt < commands.tsv";

Status Build(const std::string& directory) {
  const int64_t start = MonotonicNanoseconds();
  NEPTUNE_ASSIGN_OR_RETURN(const auto input, OpenByteSource("-"));
  NEPTUNE_ASSIGN_OR_RETURN(const auto built,
                           BuildBenchIndex(directory, input.get(), FLAGS_reordered));
  printf("{\"engine\":\"neptune\",\"docs\":%llu,\"segments\":1,\"secs\":%.1f,\"bytes\":%llu}\n",
         static_cast<unsigned long long>(built.document_count),
         static_cast<double>(MonotonicNanoseconds() - start) * 1e-9,
         static_cast<unsigned long long>(built.size));
  return neptune::OkStatus();
}

neptune::StatusOr<std::vector<BenchCommand>> ReadCommands() {
  NEPTUNE_ASSIGN_OR_RETURN(const auto input, OpenByteSource("-"));
  LineReader reader(input.get(), kCommandSizeMax);
  LineReader::Line line;
  std::vector<BenchCommand> commands;
  while (true) {
    NEPTUNE_ASSIGN_OR_RETURN(const bool found, reader.Next(&line));
    if (!found) return commands;
    if (line.text.empty() && !line.too_long) continue;
    auto command = ParseBenchCommand(line.text);
    if (!command.ok()) {
      return neptune::Annotate(command.status(), neptune::StrCat("line ", line.number));
    }
    commands.push_back(std::move(*command));
  }
}

Status WriteTimes(const std::string& tsv) {
  if (FLAGS_tsv.empty()) {
    fwrite(tsv.data(), 1, tsv.size(), stdout);
    return neptune::OkStatus();
  }
  const std::string path = CallerPath(FLAGS_tsv);
  std::ofstream file(path, std::ios::binary);
  file << tsv;
  return file.flush() ? neptune::OkStatus() : neptune::Unavailable("cannot write ", path);
}

Status Query(const std::string& directory) {
  if (FLAGS_bench < 0 || FLAGS_bench > kPassesMax || FLAGS_warmup < 0 ||
      FLAGS_warmup > kPassesMax) {
    return InvalidArgument("--bench and --warmup must be 0 to ", kPassesMax);
  }
  NEPTUNE_ASSIGN_OR_RETURN(const auto index, BenchIndex::Open(directory));
  NEPTUNE_ASSIGN_OR_RETURN(const auto commands, ReadCommands());
  if (FLAGS_bench == 0) {
    for (const BenchCommand& command : commands) {
      NEPTUNE_ASSIGN_OR_RETURN(const auto result, index->Run(command));
      puts(index->Answer(command, result).c_str());
    }
    return neptune::OkStatus();
  }
  NEPTUNE_ASSIGN_OR_RETURN(const std::string tsv,
                           TimeCommands(*index, commands,
                                        {.engine = FLAGS_label,
                                         .pass_count = static_cast<size_t>(FLAGS_bench),
                                         .warmup_count = static_cast<size_t>(FLAGS_warmup),
                                         .clock = &MonotonicNanoseconds}));
  NEPTUNE_RETURN_IF_ERROR(WriteTimes(tsv));
  TimingTable table;
  NEPTUNE_RETURN_IF_ERROR(table.AddTsv(tsv));
  fputs(table.Summary().c_str(), stderr);
  return neptune::OkStatus();
}

Status CompareTimes(const std::vector<std::string>& arguments) {
  TimingTable table;
  for (size_t i = 1; i < arguments.size(); ++i) {
    NEPTUNE_ASSIGN_OR_RETURN(const std::string tsv,
                             ReadWholeFile(CallerPath(arguments[i]), kTsvSizeMax));
    NEPTUNE_RETURN_IF_ERROR(neptune::Annotate(table.AddTsv(tsv), arguments[i]));
  }
  const auto comparison = Compare(
      table, FLAGS_label, {.reordered = FLAGS_reordered, .word_sequences = FLAGS_word_sequences});
  fputs(FormatComparison(comparison).c_str(), stdout);
  const BoundCounts counts = CountBounds(comparison);
  if (FLAGS_require_bounds && (counts.asked == 0 || counts.reached < counts.asked)) {
    return neptune::FailedPrecondition(counts.reached, " of ", counts.asked, " bounds reached");
  }
  return neptune::OkStatus();
}

Status CheckAnswers(const std::string& ours_path, const std::string& peer_path) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string commands, ReadWholeFile("-", kTsvSizeMax));
  NEPTUNE_ASSIGN_OR_RETURN(const std::string ours, ReadWholeFile(ours_path, kTsvSizeMax));
  NEPTUNE_ASSIGN_OR_RETURN(const std::string peer, ReadWholeFile(peer_path, kTsvSizeMax));
  NEPTUNE_ASSIGN_OR_RETURN(const auto agreement, CompareAnswers(commands, ours, peer));
  fputs(FormatAgreement(agreement).c_str(), stdout);
  for (const ClassAgreement& row : agreement) {
    if (!row.Agrees()) return neptune::FailedPrecondition("the engines do not agree");
  }
  return neptune::OkStatus();
}

Status Run(const std::vector<std::string>& arguments) {
  const std::string action = arguments.empty() ? "" : arguments[0];
  if (action == "compare" && arguments.size() > 1) return CompareTimes(arguments);
  if (action == "agree" && arguments.size() == 3) {
    return CheckAnswers(CallerPath(arguments[1]), CallerPath(arguments[2]));
  }
  if (arguments.size() != 2) return InvalidArgument("the command is missing; try --help");
  if (action == "build") return Build(CallerPath(arguments[1]));
  if (action == "query") return Query(CallerPath(arguments[1]));
  return InvalidArgument("unknown command '", action, "'; try --help");
}

}  // namespace
}  // namespace search::tools

int main(int argc, char** argv) {
  const auto rest = search::tools::ParseCommandLine(&argc, &argv, search::tools::kUsage, __FILE__);
  return search::tools::ExitStatus(search::tools::Run(rest), "bench_index");
}

// Makes, imports, edits and describes query traces.

#include <gflags/gflags.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/world/random_source.h"
#include "tools/terminal/caller_path.h"
#include "tools/terminal/command_line.h"
#include "tools/terminal/progress.h"
#include "tools/trace/query_import.h"
#include "tools/trace/trace_edit.h"
#include "tools/trace/trace_file.h"
#include "tools/trace/trace_generator.h"
#include "tools/trace/trace_profile.h"
#include "tools/trace/trace_statistics.h"

DEFINE_string(profile, "",
              "generate a trace with this profile's statistics, for example "
              "data/traces/ask_peak.textproto");
DEFINE_string(queries, "", "queries of the generated trace: one per line, plain or packed");
DEFINE_string(corpus, "",
              "instead of --queries: JSON Lines from whose words queries are generated");
DEFINE_uint64(corpus_query_count, 20'000, "with --corpus: number of different queries");
DEFINE_uint64(seed, 1, "random seed; the same seed gives the same bytes");
DEFINE_double(duration_s, 0, "with --profile: length of the trace, instead of the profile's");
DEFINE_double(rate, 0,
              "with --profile: mean rate, instead of the profile's; with --format=list: the rate; "
              "per second");
DEFINE_string(curve, "",
              "with --profile: requests in each second from midnight, one per line; its daily "
              "curve replaces the profile's");
DEFINE_string(input, "", "files to import, cut, scale or merge, separated by commas");
DEFINE_string(format, "trace", "format of --input: trace, access_log or list");
DEFINE_string(query_parameter, "q", "with --format=access_log: the URL parameter with the query");
DEFINE_string(service_class, "bronze", "class of imported requests");
DEFINE_double(from_s, 0, "with --input: first second to keep");
DEFINE_double(to_s, 0, "with --input: first second to drop; 0: none");
DEFINE_double(speed, 1, "with --input: times are divided by this");
DEFINE_string(bad_lines, "fail", "a malformed line: fail, or count and skip");
DEFINE_string(out, "", "the trace to write; packed if it ends in .gz or .zst");
DEFINE_string(stats, "", "print the statistics of this trace");
DEFINE_bool(json, false, "with --stats: as JSON");

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;

constexpr char kUsage[] =
    "generates, imports, edits and describes query traces\n\n"
    "  make:    --profile=data/traces/ask_peak.textproto --queries=FILE --out=TRACE.gz --seed=1\n"
    "  import:  --input=access.log --format=access_log --out=TRACE.gz\n"
    "           --input=queries.txt --format=list --rate=50 --out=TRACE.gz\n"
    "  edit:    --input=A,B --from_s=600 --to_s=1200 --speed=2 --out=TRACE.gz    (several are "
    "merged)\n"
    "  look at: --stats=TRACE [--json]\n\n"
    "The format is described in tools/trace/format.md.";

// Writes the records that `make` hands on, and tells what they are like.
struct Output {
  std::unique_ptr<TraceWriter> writer;
  TraceObserver observer;

  Status Take(const TraceRecord& record) {
    observer.Add(record);
    return writer->Write(record);
  }
};

StatusOr<TraceStatistics> WriteTrace(const std::string& comment,
                                     const std::function<Status(const RecordHandler&)>& make) {
  if (FLAGS_out.empty()) return InvalidArgument("--out is missing; it names the trace to write");
  Output output;
  NEPTUNE_ASSIGN_OR_RETURN(output.writer, TraceWriter::Create(CallerPath(FLAGS_out)));
  NEPTUNE_RETURN_IF_ERROR(output.writer->WriteComment(comment));
  Progress progress(
      {.label = "writing", .unit = "requests", .out = stderr, .clock = MonotonicNanoseconds});
  NEPTUNE_RETURN_IF_ERROR(make([&](const TraceRecord& record) {
    progress.Add(1);
    return output.Take(record);
  }));
  progress.Finish();
  NEPTUNE_RETURN_IF_ERROR(output.writer->Commit());
  return output.observer.Finish();
}

void NoteBadLines(uint64_t count, const std::string& first) {
  if (count == 0) return;
  std::fprintf(stderr, "make_trace: %s bad lines skipped; the first: %s\n",
               WithThousands(count).c_str(), first.c_str());
}

StatusOr<TraceProfile> ReadProfile() {
  NEPTUNE_ASSIGN_OR_RETURN(TraceProfile profile, LoadTraceProfile(ProjectPath(FLAGS_profile)));
  if (FLAGS_duration_s != 0 || FLAGS_rate != 0 || !FLAGS_curve.empty()) profile.clear_published();
  if (FLAGS_duration_s != 0) profile.set_duration_s(FLAGS_duration_s);
  if (FLAGS_rate != 0) profile.set_gap_mean_ms(1000 / FLAGS_rate);
  if (!FLAGS_curve.empty()) {
    NEPTUNE_ASSIGN_OR_RETURN(const std::vector<double> rates,
                             ReadHourlyRates(CallerPath(FLAGS_curve)));
    profile.mutable_curve()->mutable_hourly_rates()->Assign(rates.begin(), rates.end());
  }
  NEPTUNE_RETURN_IF_ERROR(CheckTraceProfile(profile));
  return profile;
}

StatusOr<std::vector<std::string>> ReadQueries() {
  if (FLAGS_queries.empty() == FLAGS_corpus.empty()) {
    return InvalidArgument("--profile needs either --queries or --corpus");
  }
  if (!FLAGS_queries.empty()) return ReadQueryList(ProjectPath(FLAGS_queries));
  return QueriesOfCorpus(ProjectPath(FLAGS_corpus), FLAGS_corpus_query_count, FLAGS_seed);
}

Status Make() {
  NEPTUNE_ASSIGN_OR_RETURN(const TraceProfile profile, ReadProfile());
  NEPTUNE_ASSIGN_OR_RETURN(const std::vector<std::string> queries, ReadQueries());
  GeneratedCounts counts;
  NEPTUNE_ASSIGN_OR_RETURN(const TraceStatistics made,
                           WriteTrace(neptune::StrCat("made by make_trace with seed ", FLAGS_seed),
                                      [&](const RecordHandler& take) -> Status {
                                        NEPTUNE_ASSIGN_OR_RETURN(
                                            counts,
                                            GenerateTrace(profile, queries, FLAGS_seed, take));
                                        return neptune::OkStatus();
                                      }));
  std::printf("%s", DescribeTrace(made).c_str());
  if (counts.composed_query_count > 0) {
    std::printf("\n%s queries were combined, since the list has only %s\n",
                WithThousands(counts.composed_query_count).c_str(),
                WithThousands(queries.size()).c_str());
  }
  NEPTUNE_ASSIGN_OR_RETURN(const std::vector<FitLine> fit, CompareWithPublished(profile, made));
  if (!fit.empty()) std::printf("\n%s", DescribeFit(fit).c_str());
  return neptune::OkStatus();
}

Status EditInputs(const std::vector<std::string>& paths, BadLines bad_lines) {
  if (!(FLAGS_speed > 0)) return InvalidArgument("--speed must be above 0");
  if (FLAGS_from_s < 0 || FLAGS_to_s < 0)
    return InvalidArgument("--from_s and --to_s must not be negative");
  TraceEdit edit{.from_us = static_cast<uint64_t>(FLAGS_from_s * 1e6), .speed = FLAGS_speed};
  if (FLAGS_to_s > 0) edit.to_us = static_cast<uint64_t>(FLAGS_to_s * 1e6);
  std::vector<std::unique_ptr<TraceReader>> readers;
  for (const std::string& path : paths) {
    NEPTUNE_ASSIGN_OR_RETURN(readers.emplace_back(),
                             TraceReader::Open(ProjectPath(path), bad_lines));
  }
  NEPTUNE_ASSIGN_OR_RETURN(const TraceStatistics made,
                           WriteTrace("edited by make_trace", [&](const RecordHandler& take) {
                             return EditTraces(readers, edit, take);
                           }));
  for (const auto& reader : readers)
    NoteBadLines(reader->bad_line_count(), reader->first_bad_line());
  std::printf("%s", DescribeTrace(made).c_str());
  return neptune::OkStatus();
}

Status ImportLog(const std::string& path, BadLines bad_lines) {
  const AccessLogOptions options{.parameter = FLAGS_query_parameter,
                                 .service_class = FLAGS_service_class,
                                 .bad_lines_fail = bad_lines == BadLines::kFail};
  AccessLogCounts counts;
  NEPTUNE_ASSIGN_OR_RETURN(const TraceStatistics made,
                           WriteTrace("imported by make_trace from an access log",
                                      [&](const RecordHandler& take) -> Status {
                                        NEPTUNE_ASSIGN_OR_RETURN(
                                            counts, ImportAccessLog(path, options, take));
                                        return neptune::OkStatus();
                                      }));
  NoteBadLines(counts.bad_lines, counts.first_bad_line);
  std::printf("%s\n%s other requests skipped\n", DescribeTrace(made).c_str(),
              WithThousands(counts.without_query).c_str());
  return neptune::OkStatus();
}

// The list in its order, with exponential gaps.
Status ImportList(const std::string& path) {
  if (!(FLAGS_rate > 0)) return InvalidArgument("--format=list needs --rate, requests a second");
  NEPTUNE_ASSIGN_OR_RETURN(std::vector<std::string> queries, ReadQueryList(path));
  neptune::RandomSource random(FLAGS_seed);
  NEPTUNE_ASSIGN_OR_RETURN(
      const TraceStatistics made,
      WriteTrace("imported by make_trace from a list", [&](const RecordHandler& take) -> Status {
        double at_us = 0;
        for (std::string& query : queries) {
          at_us += random.Exponential(1e6 / FLAGS_rate);
          NEPTUNE_RETURN_IF_ERROR(
              take({static_cast<uint64_t>(at_us), FLAGS_service_class, std::move(query)}));
        }
        return neptune::OkStatus();
      }));
  std::printf("%s", DescribeTrace(made).c_str());
  return neptune::OkStatus();
}

Status Import(BadLines bad_lines) {
  const std::vector<std::string> paths = SplitList(FLAGS_input);
  NEPTUNE_RETURN_IF_ERROR(CheckTraceClass(FLAGS_service_class));
  if (FLAGS_format == "trace") return EditInputs(paths, bad_lines);
  if (paths.size() != 1) return InvalidArgument("--format=", FLAGS_format, " takes one --input");
  const std::string path = ProjectPath(paths[0]);
  if (FLAGS_format == "access_log") return ImportLog(path, bad_lines);
  if (FLAGS_format == "list") return ImportList(path);
  return InvalidArgument("--format=", FLAGS_format, " is not trace, access_log or list");
}

Status Describe(BadLines bad_lines) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto reader,
                           TraceReader::Open(ProjectPath(FLAGS_stats), bad_lines));
  TraceObserver observer;
  TraceRecord record;
  for (;;) {
    NEPTUNE_ASSIGN_OR_RETURN(const bool more, reader->Next(&record));
    if (!more) break;
    observer.Add(record);
  }
  NoteBadLines(reader->bad_line_count(), reader->first_bad_line());
  const TraceStatistics statistics = observer.Finish();
  std::printf("%s", FLAGS_json ? TraceStatisticsJson(statistics).c_str()
                               : DescribeTrace(statistics).c_str());
  return neptune::OkStatus();
}

Status Run() {
  const int given = !FLAGS_profile.empty() + !FLAGS_input.empty() + !FLAGS_stats.empty();
  if (given != 1) return InvalidArgument("give one of --profile, --input and --stats; see --help");
  NEPTUNE_ASSIGN_OR_RETURN(const BadLines bad_lines, ParseBadLines(FLAGS_bad_lines));
  if (!FLAGS_profile.empty()) return Make();
  if (!FLAGS_input.empty()) return Import(bad_lines);
  return Describe(bad_lines);
}

}  // namespace
}  // namespace search::tools

int main(int argc, char** argv) {
  search::tools::ParseCommandLine(&argc, &argv, search::tools::kUsage, __FILE__);
  return search::tools::ExitStatus(search::tools::Run(), "make_trace");
}

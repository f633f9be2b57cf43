#include "tools/bench_index/index_bench.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <utility>

#include "index/core/builder/index_builder.h"
#include "index/core/search/global_statistics.h"
#include "neptune/base/strings.h"
#include "tools/bench_index/game_query.h"
#include "tools/streams/line_reader.h"

namespace search::tools {
namespace {

using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

static_assert(LineReader::kPadding >= simdjson::SIMDJSON_PADDING);

constexpr char kIdsFileName[] = "ids";
constexpr size_t kIdsSizeMax = size_t{4} << 30;
constexpr size_t kHitsMax = index::kHitCountMax;
constexpr size_t kBuildMemoryMax = size_t{1} << 30;

index::RankingOptions BenchRanking() {
  index::RankingOptions ranking;
  ranking.k1 = 0.9F;
  ranking.fields[static_cast<size_t>(index::Field::kBody)] = {.weight = 1, .b = 0.4F};
  ranking.static_rank_weight = 0;
  return ranking;
}

// The object's `id`, and title, line break and text in *body.
StatusOr<std::string> ReadDocument(simdjson::ondemand::parser* parser, std::string_view line,
                                   std::string* body) {
  body->clear();
  simdjson::ondemand::document document;
  if (parser->iterate(line.data(), line.size(), line.size() + LineReader::kPadding).get(document) !=
      simdjson::SUCCESS) {
    return neptune::InvalidArgument("not a JSON object");
  }
  std::string_view text;
  std::string id;
  if (document["id"].get_string().get(text) == simdjson::SUCCESS) id = std::string(text);
  if (id.empty() || id.find_first_of("\t\n ") != std::string::npos) {
    return neptune::InvalidArgument("a one-word id is missing");
  }
  if (document["title"].get_string().get(text) == simdjson::SUCCESS) {
    body->append(text);
    body->push_back('\n');
  }
  if (document["text"].get_string().get(text) == simdjson::SUCCESS) body->append(text);
  return id;
}

uint64_t FolderSize(const std::string& directory) {
  uint64_t size = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (entry.is_regular_file()) size += entry.file_size();
  }
  return size;
}

Status AddDocuments(ByteSource* documents, index::IndexBuilder* builder, std::string* ids) {
  LineReader reader(documents, kDocumentLineSizeMax);
  LineReader::Line line;
  simdjson::ondemand::parser parser;
  std::string body;
  uint64_t doc_id = 0;
  while (true) {
    NEPTUNE_ASSIGN_OR_RETURN(const bool found, reader.Next(&line));
    if (!found) return neptune::OkStatus();
    if (line.too_long) return neptune::InvalidArgument("line ", line.number, " is too long");
    if (line.text.empty()) continue;
    auto id = ReadDocument(&parser, line.text, &body);
    if (!id.ok()) return neptune::Annotate(id.status(), StrCat("line ", line.number));
    NEPTUNE_RETURN_IF_ERROR(builder->Add({.doc_id = doc_id++, .body = body}));
    neptune::StrAppend(ids, *id, "\n");
  }
}

std::string TimeLine(const BenchTimes& times, const BenchCommand& command, uint64_t count,
                     std::vector<int64_t> nanoseconds) {
  std::sort(nanoseconds.begin(), nanoseconds.end());
  const auto sum = std::accumulate(nanoseconds.begin(), nanoseconds.end(), int64_t{0});
  const auto micros = [](double value) { return value / 1000; };
  char text[96];
  std::snprintf(text, sizeof(text), "%.2f\t%.2f\t%.2f",
                micros(static_cast<double>(nanoseconds.front())),
                micros(static_cast<double>(nanoseconds[nanoseconds.size() / 2])),
                micros(static_cast<double>(sum) / static_cast<double>(nanoseconds.size())));
  return StrCat(times.engine, "\t", command.name, "\t", command.query, "\t", count, "\t", text,
                "\n");
}

}  // namespace

StatusOr<BenchBuildSummary> BuildBenchIndex(const std::string& directory, ByteSource* documents,
                                            bool reorder) {
  NEPTUNE_ASSIGN_OR_RETURN(auto builder,
                           index::IndexBuilder::Create({.directory = directory,
                                                        .memory_size_max = kBuildMemoryMax,
                                                        .words = index::WordRule::kAsciiRuns,
                                                        .reorder = reorder}));
  std::string ids;
  NEPTUNE_RETURN_IF_ERROR(AddDocuments(documents, builder.get(), &ids));
  NEPTUNE_ASSIGN_OR_RETURN(const auto segment, builder->Finish());
  NEPTUNE_RETURN_IF_ERROR(index::ComputeGlobalStatistics({directory}, {.ranking = BenchRanking()}));
  std::ofstream file(StrCat(directory, "/", kIdsFileName), std::ios::binary);
  file << ids;
  if (!file.flush()) return neptune::Unavailable("cannot write ids into ", directory);
  return BenchBuildSummary{segment.document_count, FolderSize(directory)};
}

StatusOr<BenchCommand> ParseBenchCommand(std::string_view line) {
  constexpr std::string_view kTop = "TOP_";
  constexpr std::string_view kCount = "COUNT";
  const size_t tab = line.find('\t');
  if (tab == std::string_view::npos) return neptune::InvalidArgument("no tab in a command");
  BenchCommand command{.name = std::string(line.substr(0, tab)),
                       .query = std::string(line.substr(tab + 1))};
  std::string_view rest = command.name;
  if (rest == kCount) {
    command.counts = true;
    return command;
  }
  if (rest.substr(0, kTop.size()) == kTop) {
    rest.remove_prefix(kTop.size());
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), command.k);
    const std::string_view suffix(end, static_cast<size_t>(rest.data() + rest.size() - end));
    command.counts = suffix == "_COUNT";
    if (error == std::errc() && (suffix.empty() || command.counts) && command.k > 0 &&
        command.k <= kHitsMax) {
      return command;
    }
  }
  return neptune::InvalidArgument("unknown command ", command.name);
}

StatusOr<std::unique_ptr<BenchIndex>> BenchIndex::Open(const std::string& directory) {
  std::unique_ptr<BenchIndex> bench(new BenchIndex());
  NEPTUNE_ASSIGN_OR_RETURN(bench->segment_, index::Segment::Open(directory));
  NEPTUNE_ASSIGN_OR_RETURN(bench->statistics_,
                           index::CollectionStatistics::Open(directory, *bench->segment_, {}));
  NEPTUNE_ASSIGN_OR_RETURN(
      bench->searcher_,
      index::Searcher::Create(*bench->segment_, *bench->statistics_, BenchRanking()));
  NEPTUNE_ASSIGN_OR_RETURN(bench->id_bytes_,
                           ReadWholeFile(StrCat(directory, "/", kIdsFileName), kIdsSizeMax));
  std::string_view rest = bench->id_bytes_;
  for (size_t end; (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1)) {
    bench->ids_.push_back(rest.substr(0, end));
  }
  if (bench->ids_.size() != bench->segment_->document_count()) {
    return neptune::DataLoss(directory, ": ids and segment do not match");
  }
  return bench;
}

StatusOr<index::SearchResult> BenchIndex::Run(const BenchCommand& command) const {
  return searcher_->Search(ParseGameQuery(command.query),
                           {.k = command.k, .count_exactly = command.counts});
}

std::string BenchIndex::Answer(const BenchCommand& command,
                               const index::SearchResult& result) const {
  std::string line = command.counts ? StrCat(result.total, "\t") : "-\t";
  for (size_t i = 0; i < result.hits.size(); ++i) {
    char score[32];
    std::snprintf(score, sizeof(score), "%.4f", static_cast<double>(result.hits[i].score));
    neptune::StrAppend(&line, i > 0 ? " " : "", ids_[result.hits[i].doc_id], ":", score);
  }
  return line;
}

StatusOr<std::string> TimeCommands(const BenchIndex& index,
                                   const std::vector<BenchCommand>& commands,
                                   const BenchTimes& times) {
  std::vector<std::vector<int64_t>> taken(commands.size());
  std::vector<uint64_t> counts(commands.size());
  for (size_t pass = 0; pass < times.warmup_count + times.pass_count; ++pass) {
    for (size_t i = 0; i < commands.size(); ++i) {
      const int64_t start = times.clock();
      NEPTUNE_ASSIGN_OR_RETURN(const auto result, index.Run(commands[i]));
      const int64_t end = times.clock();
      counts[i] = commands[i].counts ? result.total : result.hits.size();
      if (pass >= times.warmup_count) taken[i].push_back(end - start);
    }
  }
  std::string tsv = "engine\tcommand\tquery\tcount\tmin_us\tp50_us\tmean_us\n";
  for (size_t i = 0; i < commands.size(); ++i) {
    tsv += TimeLine(times, commands[i], counts[i], std::move(taken[i]));
  }
  return tsv;
}

}  // namespace search::tools

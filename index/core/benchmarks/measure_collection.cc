// Builds a collection from a file of documents and measures building and searching, by hand:
//   measure_collection --documents=FILE.jsonl.zst --queries=FILE.tsv --directory=FOLDER
// Documents: JSON lines with title and text. Queries: id, query, classes, separated by tabs, in the
// syntax of the search benchmark game: `+a +b` all of, `a b` any of, `"a b"` phrase.
// Times are processor time of the thread that searches, which other load disturbs least.

#include <gflags/gflags.h>
#include <simdjson.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "index/core/builder/index_builder.h"
#include "index/core/search/global_statistics.h"
#include "index/core/search/searcher.h"
#include "index/core/testing/documents.h"

DEFINE_string(documents, "", "file of documents; empty: search the existing segments");
DEFINE_string(queries, "", "file of queries; empty: only build");
DEFINE_string(directory, "", "folder for the segments");
DEFINE_int32(partitions, 1, "partitions of each tier");
DEFINE_bool(two_tiers, false, "a quarter of the documents in segments of their own");
DEFINE_int32(k, 10, "hits wanted");
DEFINE_int32(repetitions, 5, "runs of each query; the fastest counts");
DEFINE_uint64(memory_mib, 96, "memory of each segment's builder");

namespace search::index {
namespace {

constexpr size_t kBatchSize = 8192;
constexpr size_t kThreadCount = 2;

double Seconds(clockid_t clock) {
  timespec at = {};
  clock_gettime(clock, &at);
  return static_cast<double>(at.tv_sec) + static_cast<double>(at.tv_nsec) * 1e-9;
}

void Check(const neptune::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

size_t SegmentCount() { return static_cast<size_t>(FLAGS_partitions) * (FLAGS_two_tiers ? 2 : 1); }

std::vector<std::string> Folders() {
  std::vector<std::string> folders;
  for (size_t i = 0; i < SegmentCount(); ++i) {
    folders.push_back(FLAGS_directory + "/" + std::to_string(i));
  }
  return folders;
}

// Skewed like a link-based rank: most documents near 0.
float MadeUpRank(uint64_t doc_id) {
  const double uniform = static_cast<double>((doc_id * 0x9E3779B97F4A7C15) >> 11) / 0x1p53;
  return static_cast<float>(std::pow(uniform, 8));
}

size_t SegmentOf(const TestDocument& document) {
  const size_t partition = document.doc_id % static_cast<size_t>(FLAGS_partitions);
  const bool second = FLAGS_two_tiers && document.static_rank < std::pow(0.75, 8);
  return partition + (second ? static_cast<size_t>(FLAGS_partitions) : 0);
}

class Build {
 public:
  Build() {
    for (const std::string& folder : Folders()) {
      auto builder =
          IndexBuilder::Create({.directory = folder, .memory_size_max = FLAGS_memory_mib << 20});
      Check(builder.status());
      builders_.push_back(std::move(*builder));
    }
  }

  void Run() {
    const double start = Seconds(CLOCK_MONOTONIC);
    ReadZstdLines(FLAGS_documents, [this](const std::string& line) {
      Parse(line);
      if (batch_.size() == kBatchSize) AddBatch();
      return true;
    });
    AddBatch();
    std::printf("added %.1f s\n", Seconds(CLOCK_MONOTONIC) - start);
    InThreads([this](size_t i) { Finish(i); });
    std::printf("finished %.1f s\n", Seconds(CLOCK_MONOTONIC) - start);
    Check(ComputeGlobalStatistics(Folders(), {.ranking = {}, .thread_count = kThreadCount}));
    std::printf("statistics %.1f s, processor %.1f s\n", Seconds(CLOCK_MONOTONIC) - start,
                Seconds(CLOCK_PROCESS_CPUTIME_ID));
  }

 private:
  void Parse(const std::string& line) {
    simdjson::padded_string padded(line);
    auto json = parser_.iterate(padded);
    TestDocument& document = batch_.emplace_back();
    document.doc_id = ++document_count_;
    document.title = std::string(std::string_view(json["title"]));
    document.body = std::string(std::string_view(json["text"]));
    document.static_rank = MadeUpRank(document.doc_id);
  }

  void AddBatch() {
    InThreads([this](size_t i) {
      for (const TestDocument& document : batch_) {
        if (SegmentOf(document) == i) Check(builders_[i]->Add(document.View()));
      }
    });
    batch_.clear();
  }

  void Finish(size_t i) {
    const auto summary = builders_[i]->Finish();
    Check(summary.status());
    std::printf(
        "segment %zu: %lu documents, %lu terms, %lu postings, %lu tokens, %lu bytes, %u runs\n", i,
        summary->document_count, summary->term_count, summary->posting_count, summary->token_count,
        summary->size, summary->run_count);
  }

  template <typename Job>
  void InThreads(const Job& job) {
    std::vector<std::thread> threads;
    for (size_t t = 0; t < kThreadCount; ++t) {
      threads.emplace_back([&, t] {
        for (size_t i = t; i < builders_.size(); i += kThreadCount) job(i);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  std::vector<std::unique_ptr<IndexBuilder>> builders_;
  simdjson::ondemand::parser parser_;
  std::vector<TestDocument> batch_;
  uint64_t document_count_ = 0;
};

struct Part {
  std::unique_ptr<Segment> segment;
  std::unique_ptr<CollectionStatistics> statistics;
  std::unique_ptr<Searcher> searcher;
};

std::vector<Part> OpenAll() {
  std::vector<Part> parts;
  for (const std::string& folder : Folders()) {
    Part& part = parts.emplace_back();
    auto segment = Segment::Open(folder);
    Check(segment.status());
    part.segment = std::move(*segment);
    auto statistics = CollectionStatistics::Open(folder, *part.segment, {});
    Check(statistics.status());
    part.statistics = std::move(*statistics);
    const double start = Seconds(CLOCK_THREAD_CPUTIME_ID);
    auto searcher = Searcher::Create(*part.segment, *part.statistics);
    Check(searcher.status());
    part.searcher = std::move(*searcher);
    std::printf("opened for search in %.3f s, %zu bytes\n",
                Seconds(CLOCK_THREAD_CPUTIME_ID) - start, part.searcher->memory_size());
  }
  return parts;
}

std::string ClassOf(const std::string& text) {
  if (text.find('"') != std::string::npos) return text[0] == '"' ? "phrase" : "other";
  if (text.find('-') != std::string::npos) return "other";
  const bool several = text.find(' ') != std::string::npos;
  const auto plus = std::count(text.begin(), text.end(), '+');
  if (!several) return "term";
  if (plus == 0) return "any of";
  return plus == std::count(text.begin(), text.end(), ' ') + 1 ? "all of" : "other";
}

std::string OwnSyntax(const std::string& text, const std::string& query_class) {
  std::string own;
  for (const char c : text)
    own += query_class == "any of" && c == ' ' ? std::string(" OR +") : std::string(1, c);
  return query_class == "any of" ? "+" + own : own;
}

double MicrosecondsOf(const std::vector<Part>& parts, const Query& query,
                      const SearchOptions& options) {
  double best = 1e9;
  for (int i = 0; i < FLAGS_repetitions; ++i) {
    const double start = Seconds(CLOCK_THREAD_CPUTIME_ID);
    for (const Part& part : parts) Check(part.searcher->Search(query, options).status());
    best = std::min(best, Seconds(CLOCK_THREAD_CPUTIME_ID) - start);
  }
  return best * 1e6;
}

// Longest time between two polls of `stop` in a search, which bounds how late it detects a
// deadline. Takes the fastest repetition, because other load slows down any of them.
double PollGapOf(const std::vector<Part>& parts, const Query& query, SearchOptions options) {
  double best = 1e9;
  for (int i = 0; i < FLAGS_repetitions; ++i) {
    double longest = 0;
    double last = 0;
    options.stop = [&] {
      const double now = Seconds(CLOCK_THREAD_CPUTIME_ID);
      longest = std::max(longest, now - last);
      last = now;
      return false;
    };
    for (const Part& part : parts) {
      last = Seconds(CLOCK_THREAD_CPUTIME_ID);
      Check(part.searcher->Search(query, options).status());
      options.stop();
    }
    best = std::min(best, longest);
  }
  return best * 1e6;
}

// All queries joined into one, with about as many words as a query may have.
std::string LongestQuery(const std::vector<std::string>& texts, const std::string& glue) {
  constexpr size_t kWordsMax = 300;  // a text has at most 4 KiB
  std::string all;
  size_t count = 0;
  for (const std::string& text : texts) {
    std::istringstream words(text);
    for (std::string word; words >> word && count < kWordsMax; ++count) {
      std::erase_if(word, [](char c) { return c == '+' || c == '"' || c == '-'; });
      all += (all.empty() ? "+" : glue) + word;
    }
  }
  return all;
}

void Print(const std::string& name, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  double sum = 0;
  for (const double time : times) sum += time;
  const auto at = [&](double part) {
    return times[static_cast<size_t>(part * static_cast<double>(times.size() - 1))];
  };
  std::printf("%-24s %4zu queries: mean %8.1f p50 %8.1f p90 %8.1f p99 %8.1f us\n", name.c_str(),
              times.size(), sum / static_cast<double>(times.size()), at(0.5), at(0.9), at(0.99));
}

void MeasureQueries() {
  const std::vector<Part> parts = OpenAll();
  std::map<std::string, std::vector<double>> times;
  std::vector<std::string> texts;
  std::ifstream in(FLAGS_queries);
  for (std::string line; std::getline(in, line);) {
    std::istringstream columns(line);
    std::string id;
    std::string text;
    std::getline(columns, id, '\t');
    std::getline(columns, text, '\t');
    const std::string query_class = ClassOf(text);
    const auto query = ParseQuery(OwnSyntax(text, query_class));
    Check(query.status());
    texts.push_back(text);
    const auto k = static_cast<size_t>(FLAGS_k);
    times["between polls " + query_class].push_back(
        PollGapOf(parts, *query, {.k = k, .count_exactly = true}));
    times["top " + query_class].push_back(MicrosecondsOf(parts, *query, {.k = k}));
    times["top 50 " + query_class].push_back(
        MicrosecondsOf(parts, *query, {.k = kSecondPhaseCountDefault}));
    times["two phases " + query_class].push_back(
        MicrosecondsOf(parts, *query, {.k = k, .second_phase_count = kSecondPhaseCountDefault}));
    times["count " + query_class].push_back(
        MicrosecondsOf(parts, *query, {.k = 0, .count_exactly = true}));
    times["exhaustive " + query_class].push_back(
        MicrosecondsOf(parts, *query, {.k = k, .exhaustive = true}));
  }
  for (const std::string glue : {" OR +", " +"}) {
    const auto query = ParseQuery(LongestQuery(texts, glue));
    Check(query.status());
    const SearchOptions options{.k = static_cast<size_t>(FLAGS_k), .count_exactly = true};
    times["between polls 300 words"].push_back(PollGapOf(parts, *query, options));
    times["top 300 words"].push_back(MicrosecondsOf(parts, *query, options));
  }
  for (auto& [name, values] : times) Print(name, std::move(values));
}

}  // namespace
}  // namespace search::index

int main(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (!FLAGS_documents.empty()) search::index::Build().Run();
  if (!FLAGS_queries.empty()) search::index::MeasureQueries();
  return 0;
}

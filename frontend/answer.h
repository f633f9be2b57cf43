// One answered search as every format shows it: results, how they were found, and what is missing.
//
// Source: a partial answer always says which partitions did
// not
//   contribute.
// The search plan fills it in, the renderers read it.
// Threads: plain values.
// Units: took and age are durations; start is 0-based.
// Shapes: results[n], n <= count; a service's missing[] holds each partition at most once.
// Limits: none of its own; renderers bound what they show of each text.
// Every string is untrusted: document text, addresses and queries are escaped by the renderers and
// by
//   nobody before them.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "neptune/base/time.h"

namespace search::frontend {

// How many results from the best one can be reached by paging, unless the plan says otherwise.
inline constexpr uint32_t kReachableResultCountMax = 1000;

// A run of text; the pieces of a snippet in order are its text.
struct TextPiece {
  std::string text = {};
  bool matches_query = false;

  bool operator==(const TextPiece&) const = default;
};

struct SearchResult {
  // Document number in decimal, as /doc/ID takes it.
  std::string doc_id = {};
  // http(s) address, or `doc:PACKAGE/path` for a document that only we serve.
  std::string url = {};
  std::string title = {};
  std::string site = {};
  std::vector<TextPiece> snippet = {};
  double score = 0;
  // False if the document partition that holds the summary did not answer: url, title, site and
  // snippet are then empty and the result is shown by its number.
  bool has_summary = true;
};

// A partition that was asked and did not contribute.
struct MissingPartition {
  uint32_t partition = 0;
  // For people: "no live replica", "deadline exceeded".
  std::string reason = {};
};

// One server of the tree that reduced a tier's answers.
struct TreeServer {
  std::string node = {};
  // Index of the server that its answer went to; -1: to the frontend.
  int parent = -1;
  std::vector<uint32_t> partitions = {};
  // False if it did not answer; the times are then 0.
  bool answered = false;
  // Work that it was believed to have when the tree was formed.
  neptune::Duration believed_load{0};
  // From the arrival of its task: its own partitions began, were done, and its answer went up.
  neptune::Duration queued{0};
  neptune::Duration searched{0};
  neptune::Duration replied{0};
  // Of that, in reductions once its own partitions were done.
  neptune::Duration reducing{0};
  uint32_t reduction_count = 0;
};

// What one partitioned service was asked for this answer.
struct ServiceCoverage {
  // For people: "tier 1", "tier 2", "documents".
  std::string service = {};
  // Name of the implementation behind the tier's interface; empty if unknown or mixed.
  std::string implementation = {};
  uint32_t partitions_asked = 0;
  // Those asked and not in here answered.
  std::vector<MissingPartition> missing = {};
  // Those whose search the service ended because it had no more time for one, ascending. One that is not missing too
  // gave the best that it had found by then.
  std::vector<uint32_t> ended_early = {};
  // False if some partition stopped with the best it had found: at its deadline, or ended early.
  bool evaluated_completely = true;
  // How the answers of its partitions came together: parents first. Empty if they did not, as of the documents.
  std::string tree_scheme = {};
  std::vector<TreeServer> tree = {};
  neptune::Duration took{0};
  // Of that, here: until the first task left, and in the frontend's own reductions.
  neptune::Duration forming{0};
  neptune::Duration reducing{0};
  // Signs of overload: a partition had no room for the request; the longest that it waited at a server, and ran there.
  bool refused = false;
  neptune::Duration server_wait{0};
  neptune::Duration server_run{0};

  uint32_t partitions_answered() const {
    return partitions_asked - std::min(partitions_asked, static_cast<uint32_t>(missing.size()));
  }
  bool complete() const { return missing.empty() && evaluated_completely && ended_early.empty(); }
  // Those that answered with a part since they were ended early, ascending.
  std::vector<uint32_t> answered_in_part() const {
    std::vector<uint32_t> partitions = ended_early;
    std::erase_if(partitions, [this](uint32_t partition) {
      return std::any_of(missing.begin(), missing.end(),
                         [&](const auto& one) { return one.partition == partition; });
    });
    return partitions;
  }
};

struct CacheUse {
  enum class Outcome {
    kMiss,      // asked, not there
    kHit,       // the answer is the cached one
    kBypassed,  // asked for, configured, or because it fails of late: not consulted
    kFailed,    // consulted, but it was too slow or gone
  };
  Outcome outcome = Outcome::kBypassed;
  // kHit: time since the answer was computed.
  neptune::Duration age{0};
  std::string implementation = {};
};

struct Coverage {
  // Index tiers that were asked, in that order. Of a cached answer: those asked when it was
  // computed.
  std::vector<ServiceCoverage> tiers = {};
  // partitions_asked is 0 if there was no document to fetch.
  ServiceCoverage documents{.service = "documents"};
  CacheUse cache = {};

  // Partitions of all index tiers together.
  uint32_t partitions_asked() const {
    uint32_t count = 0;
    for (const ServiceCoverage& tier : tiers) count += tier.partitions_asked;
    return count;
  }
  uint32_t partitions_answered() const {
    uint32_t count = 0;
    for (const ServiceCoverage& tier : tiers) count += tier.partitions_answered();
    return count;
  }
  // Share of the asked index partitions that answered, 0 to 1; 1 if none was asked.
  double quality() const {
    const uint32_t asked = partitions_asked();
    return asked == 0 ? 1.0 : static_cast<double>(partitions_answered()) / asked;
  }
  // True if nothing that was asked is missing: the answer is the one a single index would give.
  bool complete() const {
    return documents.complete() && std::all_of(tiers.begin(), tiers.end(),
                                               [](const auto& tier) { return tier.complete(); });
  }
};

// What the frontend did for an answer, one step after the other.
enum class StepKind { kWork, kQueue, kWait };
struct SearchStep {
  std::string_view name = {};  // a literal: "gate", "tier 1"
  StepKind kind = StepKind::kWork;
  // Since the request's arrival.
  neptune::Duration begin{0};
  neptune::Duration end{0};
};

struct SearchAnswer {
  // As the user typed it.
  std::string query = {};
  // How it was understood where that may surprise, each a sentence.
  std::vector<std::string> notes;
  // Another spelling that finds far more; empty if there is none.
  std::string did_you_mean = {};
  // Whether it was looked for to the end, or not needed.
  bool spelling_is_complete = true;
  // What was asked for: results [start, start + count).
  uint32_t start = 0;
  uint32_t count = 10;
  std::vector<SearchResult> results = {};
  // Matching documents in the collection; a lower bound unless total_is_exact.
  uint64_t total = 0;
  bool total_is_exact = true;
  // The reader wants to see how it was found.
  bool with_trace = false;
  // In order of time; what passed between them was the frontend's own work.
  std::vector<SearchStep> steps = {};
  // 32 hexadecimal digits, W3C Trace Context.
  std::string trace_id = {};
  // From the request's arrival to the complete answer, rendering excluded.
  neptune::Duration took{0};
  // When it was answered, for feeds, which must be dated.
  neptune::WallTime answered_at = {};
  Coverage coverage = {};
  // That a cached answer keeps (search_plan/index_watch.h): it may be given again while the index is at it; 0: where documents
  // change, only while it is young.
  uint64_t index_epoch = 0;
  // The version of the index that all of it comes from, results, totals and summaries; 0: unknown.
  uint64_t index_version = 0;
  // Results beyond this one cannot be asked for; page links stop there.
  uint32_t reachable_count_max = kReachableResultCountMax;
};

// A request that got no answer, as an RFC 9457 problem.
struct ErrorAnswer {
  // HTTP status, 400 to 599.
  int http_status = 500;
  // What went wrong, short: "Too many requests".
  std::string title = {};
  // What exactly, and what to do about it.
  std::string detail = {};
  // Name of the URL parameter that is wrong; empty if none is.
  std::string parameter = {};
  // The user's query, to be corrected or tried again; may be empty.
  std::string query = {};
  // For 429 and 503: seconds after which to try again; 0 says nothing.
  uint32_t retry_after_s = 0;
};

// The stored text of one document, for /doc/ID.
struct CachedDocument {
  std::string doc_id = {};
  std::string url = {};
  std::string title = {};
  std::string site = {};
  // Plain text, paragraphs separated by line breaks.
  std::string text = {};
  // The query that led here, kept in the search box; may be empty.
  std::string query = {};
};

}  // namespace search::frontend

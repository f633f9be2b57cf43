// The answer to one search, independent of the output format: results, how they were found, and
// what is missing. A partial answer always lists the partitions that did not contribute.
//
// The search plan fills it in, the renderers read it. Every string is untrusted: document text,
// addresses and queries are escaped by the renderers and not before.
// Threads: plain values.
// Units: took and age are durations; start is 0-based.
// Shapes: results[n], n <= count; a service's missing[] holds each partition at most once.
// Limits: none of its own; renderers bound what they show of each text.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/model/score_explanation.h"
#include "frontend/model/site_facets.h"
#include "neptune/base/time.h"

namespace search::frontend {

// Default number of best results that paging can reach.
inline constexpr uint32_t kReachableResultCountMax = 1000;

// A run of text. The pieces of a snippet, concatenated in order, are its text.
struct TextPiece {
  std::string text = {};
  bool matches_query = false;

  bool operator==(const TextPiece&) const = default;
};

// A range of bytes of a text.
struct TextRange {
  uint32_t begin = 0;
  uint32_t size = 0;
};

// A result that is folded behind another one.
struct FoldedLink {
  std::string doc_id = {};
  std::string url = {};
  std::string title = {};
};

struct SearchResult {
  // Document number in decimal, as /doc/ID takes it.
  std::string doc_id = {};
  // http(s) address, or `doc:PACKAGE/path` for a document that only this site serves.
  std::string url = {};
  std::string title = {};
  std::string site = {};
  // Address of the document on the Web, if it is another one than `url`; may be empty.
  std::string public_url = {};
  std::vector<TextPiece> snippet = {};
  // Bit i: the document lacks the i-th scoring word of the query, as far as is known
  // (index/core/query/scoring_words.h).
  uint64_t lacked_bits = 0;
  // Those of these words that were wanted and not demanded, as typed.
  std::vector<std::string> lacks = {};
  double score = 0;
  // Part of the score that the second phase gave.
  double gain = 0;
  // The day, if results are sorted by date and the document has one: "2024-03-05". The score is
  // then not a number.
  std::string date = {};
  // How the score came about, if the client asked and the tier that holds the document answered.
  std::optional<ScoreExplanation> explanation = {};
  // False if the document partition that holds the summary did not answer. The snippet is then
  // empty, and so are url, title and site unless the index tiers know them; a result without a
  // title is shown by its number.
  bool has_summary = true;
  // Results with nearly the same text that are folded behind this one, best first.
  std::vector<FoldedLink> similar = {};
  // Number of further results of its site that are folded behind this one, and the question that
  // asks for all of them; empty: there is none.
  uint32_t more_of_site = 0;
  std::string site_query = {};
};

// A word that was wanted, not demanded, and that some results of the page lack.
struct GivenUpWord {
  std::string word = {};  // as typed
  uint32_t result_count = 0;
  // The question that demands the word.
  std::string demanding = {};
};

// A partition that was asked and did not contribute.
struct MissingPartition {
  uint32_t partition = 0;
  // Human-readable: "no live replica", "deadline exceeded".
  std::string reason = {};
};

// One server of the reduction tree of a tier.
struct TreeServer {
  std::string node = {};
  // Index of the server that received its answer; -1: the frontend.
  int parent = -1;
  std::vector<uint32_t> partitions = {};
  // False if it did not answer; the times are then 0.
  bool answered = false;
  // Estimated load of the server when the tree was formed.
  neptune::Duration believed_load{0};
  // Times since the arrival of its task at which the search of its own partitions began, at which
  // that search was done, and at which its answer was sent to its parent.
  neptune::Duration queued{0};
  neptune::Duration searched{0};
  neptune::Duration replied{0};
  // Part of `replied` spent in reductions after its own partitions were done.
  neptune::Duration reducing{0};
  uint32_t reduction_count = 0;
};

// How one partitioned service contributed to this answer.
struct ServiceCoverage {
  // Human-readable: "tier 1", "tier 2", "documents".
  std::string service = {};
  // Name of the tier's implementation; empty if unknown or mixed.
  std::string implementation = {};
  uint32_t partitions_asked = 0;
  // Partitions that were asked and did not answer; all others that were asked did.
  std::vector<MissingPartition> missing = {};
  // Partitions whose search the service ended early because of its time limit, ascending. A
  // partition listed here and not in `missing` returned the best documents it had found so far.
  std::vector<uint32_t> ended_early = {};
  // False if some partition stopped before it had searched all: at its deadline, or ended early.
  bool evaluated_completely = true;
  // The reduction tree of its partitions' answers, parents first. Empty if there was no tree, as
  // for the document servers.
  std::string tree_scheme = {};
  std::vector<TreeServer> tree = {};
  neptune::Duration took{0};
  // Parts of `took` spent at the frontend: until the first task was sent, and in reductions.
  neptune::Duration forming{0};
  neptune::Duration reducing{0};
  // Signs of overload: a partition refused the request; the longest wait at a server, and the time
  // the request then ran there.
  bool refused = false;
  neptune::Duration server_wait{0};
  neptune::Duration server_run{0};

  uint32_t partitions_answered() const {
    return partitions_asked - std::min(partitions_asked, static_cast<uint32_t>(missing.size()));
  }
  // True if some partition did not search all of its documents, so that one may have been missed.
  bool was_cut() const { return !evaluated_completely || !ended_early.empty(); }
  bool complete() const { return missing.empty() && !was_cut(); }
  // Partitions that were ended early and returned a partial result, ascending.
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
    kMiss,      // consulted, no entry
    kHit,       // the answer is the cached one
    kBypassed,  // not consulted: by request, by configuration, or because it has been failing
    kFailed,    // consulted, but it was too slow or unreachable
  };
  Outcome outcome = Outcome::kBypassed;
  // kHit: time since the answer was computed.
  neptune::Duration age{0};
  // kHit: the answer is of a former version of the index, and is computed again for the current
  // one, which this is; 0: it is of the current one.
  uint64_t newer_version = 0;
  // kMiss: the answer was computed for an equal question that came first.
  bool is_joined = false;
  std::string implementation = {};
};

struct Coverage {
  // Index tiers that were asked, in that order. For a cached answer, those asked when it was
  // computed.
  std::vector<ServiceCoverage> tiers = {};
  // False: an earlier search for the question, which found nothing, missed some partitions, so that
  // one that asks them may give other results. A search that was cut is followed by no other.
  bool earlier_is_complete = true;
  // Share of the page's results that provably are those of a single index although tier 2 was not
  // asked; 1 if it was, or if nothing in it can change the page.
  double sure_share = 1;
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
  // True if what was not found may be in documents that a tier had no time to look at.
  bool was_cut() const {
    return std::any_of(tiers.begin(), tiers.end(), [](const auto& tier) { return tier.was_cut(); });
  }
  // Fraction of the asked index partitions that answered, 0 to 1; 1 if none was asked.
  double quality() const {
    const uint32_t asked = partitions_asked();
    return asked == 0 ? 1.0 : static_cast<double>(partitions_answered()) / asked;
  }
  // True if the page is the one that a single index of all documents gives.
  bool equals_single_index() const { return complete() && sure_share >= 1; }
  // True if everything asked answered.
  bool complete() const {
    return earlier_is_complete && documents.complete() &&
           std::all_of(tiers.begin(), tiers.end(),
                       [](const auto& tier) { return tier.complete(); });
  }
};

// The steps of a search at the frontend, which run one after another.
enum class StepKind { kWork, kQueue, kWait };
struct SearchStep {
  std::string_view name = {};  // a literal: "gate", "tier 1"
  StepKind kind = StepKind::kWork;
  // Since the request's arrival.
  neptune::Duration begin{0};
  neptune::Duration end{0};
};

// A part of the query that narrows the results: an exclusion, or a filter by site.
struct Narrowing {
  // Else only documents of the site `text` are results, or those that the filter `text` selects.
  bool is_exclusion = false;
  std::string text = {};  // as typed, without its sign
  // The query without this part; may be blank.
  std::string query_without = {};
  bool is_field = false;  // `text` is a filter by a declared field, as "lang:en"
};

struct SearchAnswer {
  // The query as the user typed it.
  std::string query = {};
  // It was asked as running text, of which nothing is an operator.
  bool is_plain = false;
  // In the order of the query, so that none is overlooked and each can be taken back.
  std::vector<Narrowing> narrowings = {};
  // Sentences on how the query was interpreted, where that may be unexpected.
  std::vector<std::string> notes;
  // Those of the notes that depend on the index and not on the query alone.
  std::vector<std::string> index_notes = {};
  // Words that were given up so that good documents are found, in the question's order.
  std::vector<GivenUpWord> given_up = {};
  // The likely spelling of `query` that was searched for instead, because `query` finds nothing or
  // no document has one of its words. Empty: the results are those of `query`.
  std::string corrected_query = {};
  // What the searched query demands, if no page has it all and the results are those of its words:
  // "hash", "\"hash map\"" (index/core/query/relaxation.h). Empty: results have what it demands.
  std::vector<std::string> unmet_demands = {};
  // False: the client asked that demands are kept even if nothing is found.
  bool may_relax = true;
  // Another spelling that may have been meant; empty if there is none.
  std::string did_you_mean = {};
  // False: the client asked for the query as it is typed, so that no spelling was looked for.
  bool may_correct = true;
  // True if looking for another spelling was completed or not needed.
  bool spelling_is_complete = true;
  // Requested page: results [start, start + count).
  uint32_t start = 0;
  uint32_t count = 10;
  std::vector<SearchResult> results = {};
  // The request's parameters, which links to other pages keep.
  std::optional<bool> fold = std::nullopt;
  std::chrono::milliseconds timeout{0};
  // Number of ranked results that the page covers, shown or folded, from `start`; without folding
  // the number of results.
  uint32_t covered_count = 0;
  // The same of the first page, after which the others begin; 0: `count`.
  uint32_t first_page_size = 0;
  // Matching documents in the collection; a lower bound unless total_is_exact.
  uint64_t total = 0;
  bool total_is_exact = true;
  // The client asked for the trace.
  bool with_trace = false;
  // The client asked how scores came about; the note is a sentence on what is missing, or empty.
  bool with_explanations = false;
  std::string explanation_note = {};
  // The newest documents first instead of the best.
  bool by_date = false;
  // Counts by site, if the client asked for them.
  std::optional<SiteFacets> site_facets = {};
  // In chronological order; time between steps is the frontend's own work.
  std::vector<SearchStep> steps = {};
  // 32 hexadecimal digits, W3C Trace Context.
  std::string trace_id = {};
  // Time from the request's arrival to the complete answer, without rendering.
  neptune::Duration took{0};
  // Time of the answer; feeds must have a date.
  neptune::WallTime answered_at = {};
  Coverage coverage = {};
  // Index epoch the answer was computed at (search_plan/index_watch.h). A cached answer is valid
  // while the index is at this epoch, otherwise only while it is young; 0: valid by age only.
  uint64_t index_epoch = 0;
  // Version of the index that results, totals and summaries come from; 0: unknown.
  uint64_t index_version = 0;
  // Results beyond this one cannot be requested; page links stop there.
  uint32_t reachable_count_max = kReachableResultCountMax;

  // The query that the results, notes and narrowings are of, and that links to further pages carry.
  const std::string& searched_query() const {
    return corrected_query.empty() ? query : corrected_query;
  }
  // True if no document was found, and none was left out for lack of time: another reading of the
  // question may be searched for instead.
  bool found_nothing() const { return total == 0 && results.empty() && !coverage.was_cut(); }
};

// Number of ranked results that the page covers, shown or folded.
inline uint32_t CoveredCount(const SearchAnswer& answer) {
  return std::max(answer.covered_count, static_cast<uint32_t>(answer.results.size()));
}

// A request that got no answer, as an RFC 9457 problem.
struct ErrorAnswer {
  // HTTP status, 400 to 599.
  int http_status = 500;
  // Short description: "Too many requests".
  std::string title = {};
  // Details, and what to do about it.
  std::string detail = {};
  // Name of the invalid URL parameter; empty if there is none.
  std::string parameter = {};
  // The user's query, shown in the search box; may be empty.
  std::string query = {};
  // For 429 and 503: seconds after which to retry; 0: not given.
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
  // Address of the page on the Web; may be empty.
  std::string public_url = {};
  // Structure of the text (index/html/structure.md), unchecked; empty: plain text.
  std::string structure = {};
  // Words of the query in the text, ascending; unchecked.
  std::vector<TextRange> matches = {};
  // Query shown in the search box; may be empty.
  std::string query = {};
  bool is_plain = false;  // the query is running text
};

}  // namespace search::frontend

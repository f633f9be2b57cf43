// Inputs and options of a build, shared by its stages.
//
// Threads: plain values.

#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "tools/corpus/json_lines.h"
#include "tools/terminal/progress.h"

namespace search::tools {

inline constexpr uint32_t kPartitionsMax = 256;
inline constexpr uint64_t kDocumentsMax = 100'000'000;
inline constexpr char kSynonymsName[] = "synonyms";

struct BuildOptions {
  std::vector<std::string> inputs;  // JSON Lines, in order
  std::string folder;               // folder of the index
  // Partitions of each tier, and of the document stores. A document's partition is its number
  // modulo these.
  uint32_t partition_count = 4;
  uint32_t document_partition_count = 2;
  // Share of the documents in tier 1, the ones with the highest static rank.
  double tier1_share = 0.25;
  // A collection of at most this many documents is one tier: all of it is in tier 1, whatever the
  // share. Larger: fewer queries ask two tiers, each search of tier 1 costs more. Default: a search
  // of that many documents takes less than the second round of requests that it saves.
  uint64_t one_tier_documents_max = 100'000;
  // Traces and access logs whose questions choose tier 1: documents that are on their first pages
  // come before all others (first_pages.h). Empty: static rank alone decides. Costs a second build
  // of the segments, and a search for each different question.
  std::vector<std::string> tier1_queries;
  // Variants of the index tier to build; the first is in tier1/ and tier2/, others in tier1.NAME/
  // and tier2.NAME/.
  std::vector<std::string> index_tiers = {"segment"};
  // Variants of the document store to build; the first is in docs/, others are in docs.NAME/.
  std::vector<std::string> document_stores = {"rocksdb"};
  JsonLinesOptions lines;
  // File of synonyms (index/core/query/synonyms.h), which is copied into the folder as
  // kSynonymsName for frontends. Empty: none, and a copy of an earlier build is removed. The
  // contents of the index do not depend on it.
  std::string synonyms;
  // Traces and access logs whose frequent queries are suggested (asked_queries.h), and in how many
  // different hours a query must have been asked. Empty: only what documents say is suggested.
  std::vector<std::string> asked_queries;
  uint32_t asked_hours_min = 10;
  // Ends the build at the first bad line. Default: bad lines are counted and reported.
  bool fail_on_bad_lines = false;

  int thread_count = 2;
  // Memory limit of the whole build. Larger: fewer spills while inverting. Default: 1 GiB; minimum:
  // 256 MiB.
  uint64_t memory_mb = 1024;

  NanosecondClock clock;
  FILE* progress_out = nullptr;
  std::function<void(const std::string&)> report;
  // Called between stages and every few hundred documents, on any thread; true stops the build with
  // kCancelled, and the next build continues from there. May be empty.
  std::function<bool()> interrupted;
};

// Share of tier 1 in a collection of that many documents.
inline double Tier1Share(const BuildOptions& options, uint64_t document_count) {
  return document_count <= options.one_tier_documents_max ? 1 : options.tier1_share;
}

// Number of documents between polls of `interrupted`.
inline constexpr uint64_t kInterruptInterval = 256;

inline neptune::Status CheckInterrupted(const BuildOptions& options) {
  if (!options.interrupted || !options.interrupted()) return neptune::OkStatus();
  return neptune::Cancelled("stopped; run the same command again to continue");
}

}  // namespace search::tools

// Sentences about an answer that several formats share: number of results, time taken, partitions
// searched, partitions missing. English plain text, not escaped.
//
// No I/O, no clock.
// Threads: pure functions.
// Limits: MissingSentences names at most kMissingSentencesMax partitions and counts the rest.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/model/answer.h"
#include "neptune/base/time.h"

namespace search::frontend {

inline constexpr size_t kMissingSentencesMax = 8;

// 1234567 as "1,234,567".
std::string FormatCount(uint64_t count);

// "0.8 ms", "41 ms", "1.2 s".
std::string FormatTook(neptune::Duration took);

// "2026-03-01T09:30:00Z" (RFC 3339).
std::string FormatWallTime(neptune::WallTime time);

// "1 result", "12,345 results", "at least 12,345 results", "no results".
std::string TotalSentence(const SearchAnswer& answer);

// Range of this page and the total: "11–20 of 12,345 results"; if there is one page, the total.
std::string RangeSentence(const SearchAnswer& answer);

// "searched 8 of 8 partitions, tier 1 only, not cached, 4.1 ms".
std::string CoverageSentence(const SearchAnswer& answer);

// What the answer claims to be: the page of a single index, in whole, in part, or incomplete.
std::string ClaimSentence(const Coverage& coverage);

// Effect of each missing partition on the answer, one sentence each; empty for a complete answer.
std::vector<std::string> MissingSentences(const Coverage& coverage);

// "No page contains the phrase "x y". These pages have some of the words.": that what the question
// demands is not met; empty if it is.
std::string UnmetSentence(const SearchAnswer& answer);

// "3", "1 and 3", "0, 1, 2, 3, 4, 5, 6, 7 and 24 more".
std::string Listed(const std::vector<uint32_t>& partitions);

// `text` with its first letter in upper case, if that is an ASCII letter.
std::string Capitalised(std::string text);

// The text of the snippet without highlighting.
std::string SnippetText(const SearchResult& result);

// When the answer was computed, which for a cached one is not when it was given.
std::string ComputedAt(const SearchAnswer& answer);

// "miss", "hit", "bypassed", "failed".
std::string_view OutcomeName(CacheUse::Outcome outcome);

}  // namespace search::frontend

// Second stage: computes static ranks from the links, chooses tier 1, and collects the anchor texts
// of each document.
//
// Threads: runs on the calling thread.
// Errors: kDataLoss a file of the first stage is damaged; RESOURCE_EXHAUSTED more links than fit
//   into half of the memory.
// Limits: 16 bytes of memory for each link, 100 for each document, and the anchor texts, which
//   LinkTextOptions bounds for a document (link_texts.h).
//
// Tier 1 holds the documents of the highest static rank; ties are broken by quality (read_stage.h),
// then by number. Without any links all ranks are equal, so quality decides. With query logs the
// build chooses again, by the number of first pages before all else. Writes, in the build folder:
//   ranks       static rank of each document                  (4 bytes each)
//   tiers       1 or 2 for each document                      (1 byte each)
//   anchors-P   number and anchor texts, ascending, of documents of partition P that have any

#pragma once

#include <span>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/build_index/build_journal.h"
#include "tools/build_index/build_options.h"

namespace search::tools {

// Facts: links (different ones between documents), tier1 (documents in it).
neptune::StatusOr<BuildJournal::Facts> RunRankStage(const BuildOptions& options,
                                                    const BuildJournal& journal);

// Returns 1 or 2 for each document. `page_counts`: on how many first pages each is, which comes
// before its rank; empty: not known. REQUIRES: as many ranks as qualities, 0 <= tier1_share <= 1.
std::vector<uint8_t> ChooseTiers(std::span<const float> ranks, std::span<const float> qualities,
                                 double tier1_share, std::span<const uint32_t> page_counts = {});

std::string AnchorsName(uint32_t partition);
inline constexpr char kRanksName[] = "ranks";
inline constexpr char kTiersName[] = "tiers";

// A file of values of one size, as the stages pass them on.
template <typename T>
neptune::StatusOr<std::vector<T>> ReadValues(const std::string& path);

}  // namespace search::tools

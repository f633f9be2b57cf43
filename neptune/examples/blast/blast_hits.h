// Hits of BLAST: parsing of blastp's table, ordering, merging.
//
// Order: smaller e-value, larger bit score, larger score, then the subject's name, so that equal
// alignments of different subjects have one order whatever partition they come from.
//
// Source: [Chu03] 5.1 (BLAST).
// Threads: pure functions.
// Errors: kInvalidArgument a query exceeds a limit; kInternal a line is not in the table's format.
// Limits: kBlastHitCountMax hits, kBlastQueryLengthMax letters, kBlastEvalueMax.

#pragma once

#include <string>
#include <string_view>

#include "neptune/base/status.h"
#include "neptune/examples/blast/blast.pb.h"

namespace neptune::examples {

inline constexpr uint32_t kBlastHitCountMax = 10'000;
inline constexpr size_t kBlastQueryLengthMax = 100'000;
inline constexpr double kBlastEvalueMax = 10;

// The -outfmt of blastp that ParseBlastTable reads.
inline constexpr char kBlastTableFormat[] =
    "6 sseqid evalue bitscore score pident qstart qend sstart send";

Status ValidateBlastQuery(const BlastQuery& query);

StatusOr<BlastHits> ParseBlastTable(std::string_view table);

// Sorts the hits and keeps only the best.
void KeepBestHits(uint32_t hit_count_max, BlastHits* hits);

// Returns the best of both, which come from disjoint sets of partitions. Commutative and
// associative.
BlastHits MergeBlastHits(const BlastHits& a, const BlastHits& b, uint32_t hit_count_max);

}  // namespace neptune::examples

// A protein database as FASTA text, in partitions, and made-up proteins to try it with.
//
//   FOLDER/p0.fasta, p1.fasta ...   the sequences of each partition
//   FOLDER/letters                  how many letters the whole database has, which e-values depend on
//
// Threads: pure functions.
// Errors: kInvalidArgument text that is no FASTA; those of the file system.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"

namespace neptune::examples {

struct Protein {
  std::string title;    // its first word is its name
  std::string letters;  // amino acids
};

StatusOr<std::vector<Protein>> ParseFasta(std::string_view text);
std::string ToFasta(const Protein& protein);

// Families of proteins: the members of one are mutations of one ancestor, at different distances. The same seed
// makes the same proteins.
std::vector<Protein> MakeProteins(uint64_t seed, size_t count);

// Cuts the database into partitions, sequence by sequence in turn.
Status WritePartitions(const std::vector<Protein>& proteins, uint32_t partition_count,
                       const std::string& folder);
StatusOr<uint64_t> ReadLetterCount(const std::string& folder);
std::string PartitionPath(const std::string& folder, uint32_t partition);

}  // namespace neptune::examples

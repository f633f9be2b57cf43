// A protein database as FASTA text, in partitions, and synthetic proteins for tests.
//
//   DIRECTORY/p0.fasta, p1.fasta ...   the sequences of each partition
//   DIRECTORY/letters                  number of letters of the whole database, used for e-values
//
// Threads: pure functions.
// Errors: kInvalidArgument the text is not FASTA; those of the file system.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"

namespace neptune::examples {

struct Protein {
  std::string title;    // the first word is the name
  std::string letters;  // amino acids
};

StatusOr<std::vector<Protein>> ParseFasta(std::string_view text);
std::string ToFasta(const Protein& protein);

// Makes families of proteins: members are mutations of one ancestor at different distances. The
// same seed makes the same proteins.
std::vector<Protein> MakeProteins(uint64_t seed, size_t count);

// Distributes the sequences over the partitions in turn.
Status WritePartitions(const std::vector<Protein>& proteins, uint32_t partition_count,
                       const std::string& folder);
StatusOr<uint64_t> ReadLetterCount(const std::string& folder);
std::string PartitionPath(const std::string& folder, uint32_t partition);

}  // namespace neptune::examples

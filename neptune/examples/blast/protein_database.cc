#include "neptune/examples/blast/protein_database.h"

#include <filesystem>
#include <sstream>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "neptune/world/random_source.h"

namespace neptune::examples {
namespace {

constexpr std::string_view kAminoAcids = "ACDEFGHIKLMNPQRSTVWY";
constexpr size_t kFamilySize = 20;
constexpr size_t kLengthMin = 80;
constexpr size_t kLengthMax = 400;
constexpr size_t kNumberSizeMax = 100;

std::string LettersPath(const std::string& folder) { return folder + "/letters"; }

char AnyAminoAcid(RandomSource& random) { return kAminoAcids[random.Below(kAminoAcids.size())]; }

std::string Ancestor(RandomSource& random) {
  std::string letters(kLengthMin + random.Below(kLengthMax - kLengthMin), ' ');
  for (char& letter : letters) letter = AnyAminoAcid(random);
  return letters;
}

// Replaces, duplicates or omits each letter with some probability.
std::string Mutate(const std::string& letters, double probability, RandomSource& random) {
  std::string mutant;
  for (const char letter : letters) {
    if (random.Uniform() >= probability) {
      mutant += letter;
    } else if (const uint64_t kind = random.Below(10); kind < 8) {
      mutant += AnyAminoAcid(random);
    } else if (kind == 8) {
      mutant += {letter, AnyAminoAcid(random)};
    }
  }
  return mutant;
}

}  // namespace

StatusOr<std::vector<Protein>> ParseFasta(std::string_view text) {
  std::vector<Protein> proteins;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.starts_with('>')) {
      proteins.push_back({line.substr(1), ""});
    } else if (!line.empty() && proteins.empty()) {
      return InvalidArgument("line ", number, ": letters before the first '>'");
    } else if (!line.empty()) {
      proteins.back().letters += line;
    }
  }
  return proteins;
}

std::string ToFasta(const Protein& protein) {
  return StrCat(">", protein.title, "\n", protein.letters, "\n");
}

std::vector<Protein> MakeProteins(uint64_t seed, size_t count) {
  RandomSource random(seed);
  std::vector<Protein> proteins;
  for (size_t family = 0; proteins.size() < count; ++family) {
    const std::string ancestor = Ancestor(random);
    for (size_t i = 0; i < kFamilySize && proteins.size() < count; ++i) {
      const double distance = 0.9 * static_cast<double>(i) / kFamilySize;
      proteins.push_back(
          {StrCat("f", family, "m", i, " made-up protein"), Mutate(ancestor, distance, random)});
    }
  }
  return proteins;
}

Status WritePartitions(const std::vector<Protein>& proteins, uint32_t partition_count,
                       const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return FailedPrecondition("creating directory ", folder, ": ", error.message());
  std::vector<std::string> texts(partition_count);
  uint64_t letter_count = 0;
  for (size_t i = 0; i < proteins.size(); ++i) {
    texts[i % partition_count] += ToFasta(proteins[i]);
    letter_count += proteins[i].letters.size();
  }
  for (uint32_t p = 0; p < partition_count; ++p) {
    NEPTUNE_RETURN_IF_ERROR(WriteFileAtomically(PartitionPath(folder, p), texts[p]));
  }
  return WriteFileAtomically(LettersPath(folder), StrCat(letter_count, "\n"));
}

StatusOr<uint64_t> ReadLetterCount(const std::string& folder) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string text, ReadFile(LettersPath(folder), kNumberSizeMax));
  uint64_t count = 0;
  if (!(std::istringstream(text) >> count) || count == 0) {
    return InvalidArgument(LettersPath(folder), " is not a positive number");
  }
  return count;
}

std::string PartitionPath(const std::string& folder, uint32_t partition) {
  return StrCat(folder, "/p", partition, ".fasta");
}

}  // namespace neptune::examples

// Counts of phrases in one partition, and the file that keeps them until the collection is
// finished: phrases in ascending order of key.
//
// Format: format.md, "Counts".
// Reads and writes a file in the partition's directory.
// Threads: thread-compatible.
// Errors: NOT_FOUND, DATA_LOSS, UNAVAILABLE, as for section files.
// Limits: kPhraseKeySizeMax bytes per key. A reader allocates memory for one phrase at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "index/core/segment/section_file.h"
#include "neptune/base/status.h"

namespace search::index {

inline constexpr std::string_view kPhraseCountsFileName = "suggest.counts";
inline constexpr FileKind kPhraseCountsKind = {.magic = 0x4353504e, .version = 2};  // "NPSC"

inline constexpr size_t kPhraseKeySizeMax = 200;
// Maximum number of words of a title or name that becomes a suggestion.
inline constexpr size_t kPhraseWordsMax = 12;
// A title's rank is 0 to kRankUnits for a static rank of 0 to 1.
inline constexpr uint32_t kRankUnits = 4096;

// One spelling of a phrase in running text.
struct PhraseVariant {
  std::string surface;          // lower case with accents; its folded words are the key
  uint32_t document_count = 0;  // documents that contain this surface form
};

// Documents that a whole text names. Rank, doc_id and the text as written are those of the best of
// them: highest rank, then smallest doc_id. They are unset if the count is 0.
struct NamedDocuments {
  uint32_t count = 0;
  uint32_t rank = 0;  // 0 to kRankUnits
  uint64_t doc_id = 0;
  std::string text;

  // Adds those of other documents.
  void Add(const NamedDocuments& more);
};

struct PhraseCounts {
  std::string key;
  std::vector<PhraseVariant> variants;  // ascending by surface
  bool is_title_word = false;           // the word occurs in a title
  NamedDocuments title;                 // documents of this title
  // Documents with this as a heading, or as the text of a link to them.
  NamedDocuments name;
};

struct PhraseCountsTotals {
  uint64_t phrase_count = 0;
  uint64_t document_count = 0;
  // Upper bound of the undercount of any word or sequence; 0: all counts are exact.
  uint64_t count_error_max = 0;
};
static_assert(sizeof(PhraseCountsTotals) == 24);

class PhraseCountsWriter {
 public:
  // Writes `directory`/suggest.counts.
  static neptune::StatusOr<std::unique_ptr<PhraseCountsWriter>> Create(
      const std::string& directory);

  // REQUIRES: key greater than the last; fields within the limits.
  void Add(const PhraseCounts& phrase);
  neptune::Status Finish(uint64_t document_count, uint64_t count_error_max);

 private:
  explicit PhraseCountsWriter(std::unique_ptr<SectionFileWriter> file) : file_(std::move(file)) {}

  const std::unique_ptr<SectionFileWriter> file_;
  uint64_t phrase_count_ = 0;
  std::string last_key_;
  std::string record_;
};

class PhraseCountsReader {
 public:
  static neptune::StatusOr<std::unique_ptr<PhraseCountsReader>> Open(const std::string& directory);
  // Reads from a container that is already open.
  static neptune::StatusOr<std::unique_ptr<PhraseCountsReader>> FromFile(
      std::unique_ptr<SectionFile> file);

  // Moves to the next phrase, initially to the first; false at the end.
  neptune::StatusOr<bool> Next();
  const PhraseCounts& phrase() const { return phrase_; }
  const PhraseCountsTotals& totals() const { return totals_; }
  // Moves back to before the first phrase.
  void Rewind();

 private:
  explicit PhraseCountsReader(std::unique_ptr<SectionFile> file) : file_(std::move(file)) {}
  bool Read();
  bool ReadKey();
  bool ReadVariants();
  bool ReadNamed(NamedDocuments* documents);
  bool ReadNextNumber(uint64_t max, uint64_t* value);
  // Reads a size followed by that many bytes; a size of 0 yields the key.
  bool ReadText(std::string* text);

  const std::unique_ptr<SectionFile> file_;
  PhraseCountsTotals totals_;
  std::string_view records_;
  const char* at_ = nullptr;
  PhraseCounts phrase_;
  std::string last_key_;
};

}  // namespace search::index

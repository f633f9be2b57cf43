// Reads arbitrary bytes as a file of suggestions, as a dictionary, as a file of counts, and as a
// query over a small file: they are rejected, or read without a crash or an unreasonable
// allocation. Headers are made valid first, so that damage after them is reached.

#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "index/suggest/phrase_counts.h"
#include "index/suggest/spelling.h"
#include "index/suggest/spelling_dictionary.h"
#include "index/suggest/suggestion_index.h"

namespace {

using search::index::SectionFile;

constexpr size_t kHeaderSize = 32;
constexpr size_t kEntrySize = 32;

// Sets the valid size and checksum in the header.
void FitHeader(std::string* bytes) {
  if (bytes->size() < kHeaderSize) return;
  uint32_t section_count = 0;
  std::memcpy(&section_count, bytes->data() + 16, sizeof(section_count));
  const uint64_t size = bytes->size();
  std::memcpy(bytes->data() + 8, &size, sizeof(size));
  if (section_count > (bytes->size() - kHeaderSize) / kEntrySize) return;
  std::memset(bytes->data() + 24, 0, 8);
  const uint64_t checksum = XXH3_64bits(bytes->data(), kHeaderSize + section_count * kEntrySize);
  std::memcpy(bytes->data() + 24, &checksum, sizeof(checksum));
}

void Use(const search::index::SuggestionIndex& index, const std::string& query) {
  const auto folded = search::index::FoldWords(query, 8);
  const std::string key = search::index::PhraseKey(folded);
  for (const std::string& prefix : {key, key + " ", std::string("a"), query}) {
    for (const auto& completion : index.Complete(prefix, 20)) {
      if (completion.start > completion.key.size()) std::abort();
    }
  }
}

void Spell(const search::index::SpellingDictionary& dictionary, const std::string& query) {
  const auto words = search::index::WordsToSpell(query);
  const auto found = search::index::FindSpellings(dictionary, words);
  if (search::index::ComposeSpellings(query, words, found, 4).size() > 4) std::abort();
}

void ReadSuggestions(const std::string& bytes, bool verify) {
  auto file = SectionFile::FromBytes(bytes, "fuzz", search::index::kSuggestionsKind,
                                     {.verify_checksums = verify});
  if (!file.ok()) return;
  const auto index = search::index::SuggestionIndex::FromFile(*std::move(file));
  if (!index.ok()) return;
  const size_t query_size = std::min<size_t>(bytes.size(), 60);
  for (const std::string& query :
       {std::string("hash tabel iterater"), bytes.substr(bytes.size() - query_size)}) {
    Use(**index, query);
  }
}

void ReadDictionary(const std::string& bytes, bool verify) {
  auto file = SectionFile::FromBytes(bytes, "fuzz", search::index::kDictionaryKind,
                                     {.verify_checksums = verify});
  if (!file.ok()) return;
  const auto dictionary = search::index::SpellingDictionary::FromFile(*std::move(file));
  if (!dictionary.ok()) return;
  const size_t query_size = std::min<size_t>(bytes.size(), 60);
  Spell(**dictionary, "hash tabel iterater");
  Spell(**dictionary, bytes.substr(bytes.size() - query_size));
}

void ReadCounts(const std::string& bytes) {
  auto file = SectionFile::FromBytes(bytes, "fuzz", search::index::kPhraseCountsKind,
                                     {.verify_checksums = false});
  if (!file.ok()) return;
  const auto reader = search::index::PhraseCountsReader::FromFile(*std::move(file));
  if (!reader.ok()) return;
  for (auto more = (*reader)->Next(); more.ok() && *more; more = (*reader)->Next()) {
    if ((*reader)->phrase().key.size() > search::index::kPhraseKeySizeMax) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  ReadSuggestions(bytes, /*verify=*/true);
  ReadDictionary(bytes, /*verify=*/true);
  FitHeader(&bytes);
  ReadSuggestions(bytes, /*verify=*/false);
  ReadDictionary(bytes, /*verify=*/false);
  ReadCounts(bytes);
  return 0;
}

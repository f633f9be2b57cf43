// The zstd dictionary of a store: what its documents have in common, so that small blocks compress
// as well as large ones.
//
// Threads: TrainDictionary is a pure function; a Decompressor is thread-safe.
// Limits: kDictionarySize bytes of dictionary, made of the first kSampleSize bytes of documents.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct ZSTD_DDict_s;

namespace search::docserver::flat_file {

// Larger: a better ratio, until the dictionary and a block no longer fit the processor's cache.
inline constexpr size_t kDictionarySize = size_t{32} << 10;
// Bytes of documents from which a dictionary is made. Larger: it knows more of the collection, and
// building takes longer and more memory.
inline constexpr size_t kSampleSize = size_t{512} << 10;

// Returns a dictionary of the serialised documents that stand one after another in `samples`; empty
// if they are too few for one to pay.
std::string TrainDictionary(std::string_view samples, const std::vector<size_t>& sizes);

// Decompresses the blocks of a store.
class Decompressor {
 public:
  // `dictionary` may be empty and must outlive the decompressor.
  explicit Decompressor(std::string_view dictionary);
  ~Decompressor();
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  // Fills *raw, whose size is that of the block; false if the payload does not have this size or is
  // damaged.
  bool Decompress(std::string_view payload, std::string* raw) const;

 private:
  const std::unique_ptr<ZSTD_DDict_s, size_t (*)(ZSTD_DDict_s*)> dictionary_;  // null: none
};

}  // namespace search::docserver::flat_file

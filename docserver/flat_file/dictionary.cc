#include "docserver/flat_file/dictionary.h"

#include <zdict.h>
#include <zstd.h>

namespace search::docserver::flat_file {
namespace {

// With less, a dictionary takes more than it saves.
constexpr size_t kSampleSizeMin = 8 * kDictionarySize;

using Context = std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)>;

// One for each kernel thread, because creating one costs more than decompressing a block.
ZSTD_DCtx* ContextOfThisThread() {
  thread_local const Context context(ZSTD_createDCtx(), &ZSTD_freeDCtx);
  return context.get();
}

ZSTD_DDict* Digested(std::string_view dictionary) {
  if (dictionary.empty()) return nullptr;
  return ZSTD_createDDict(dictionary.data(), dictionary.size());
}

}  // namespace

std::string TrainDictionary(std::string_view samples, const std::vector<size_t>& sizes) {
  if (samples.size() < kSampleSizeMin) return {};
  std::string dictionary(kDictionarySize, '\0');
  const size_t size = ZDICT_trainFromBuffer(dictionary.data(), dictionary.size(), samples.data(),
                                            sizes.data(), static_cast<unsigned>(sizes.size()));
  if (ZDICT_isError(size)) return {};  // too few documents, or nothing in common
  dictionary.resize(size);
  return dictionary;
}

Decompressor::Decompressor(std::string_view dictionary)
    : dictionary_(Digested(dictionary), &ZSTD_freeDDict) {}

Decompressor::~Decompressor() = default;

bool Decompressor::Decompress(std::string_view payload, std::string* raw) const {
  const size_t size = ZSTD_decompress_usingDDict(ContextOfThisThread(), raw->data(), raw->size(),
                                                 payload.data(), payload.size(), dictionary_.get());
  return !ZSTD_isError(size) && size == raw->size();
}

}  // namespace search::docserver::flat_file

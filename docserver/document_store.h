// The documents of one partition, fetched by number: what every document store can do.
//
// No Neptune above base: a service module calls it, on threads that may block.
// Threads: after opening for serving, or after Seal, Fetch, Verify, document_count and name are
//   thread-safe; Put and Seal belong to one thread and exclude all others.
// Errors: DATA_LOSS stored bytes are damaged; FAILED_PRECONDITION wrong mode or never sealed;
//   INVALID_ARGUMENT a limit below is exceeded; NOT_FOUND no store in that directory;
//   UNAVAILABLE the file system refuses.
// Limits: kFetchCountMax ids a call; kDocumentSizeMax bytes a document, serialised.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "docserver/docserver.pb.h"
#include "neptune/base/status.h"

namespace search::docserver {

inline constexpr size_t kFetchCountMax = 100;
inline constexpr size_t kDocumentSizeMax = 4u << 20;

struct DocumentStoreOptions {
  enum class Mode {
    // Reads a sealed directory. Any number of processes may do so at once, and none writes to it.
    kServe,
    // Starts a new store: the directory is created, an unsealed store in it is thrown away, a
    // sealed
    // one refuses. Put, then Seal; from then on it can be read through the same object as well.
    kBuild,
  };
  Mode mode = Mode::kServe;

  // Level of zstd. Larger: smaller files, slower building; reading is as fast. 1 to 19.
  // Default: 3, where ratio per second of building is best on HTML-derived text. Building only.
  int compression_level = 3;

  // Bytes of plain text compressed as one block. Larger: better ratio, more work a fetched
  // document. Default: 16 KiB, about five pages of documentation. Building only.
  uint32_t block_size = 16u << 10;

  // Bytes kept decompressed in memory by stores that have such a cache. Larger: fewer blocks read
  // again; the operating system caches the compressed ones anyway. Default: 32 MiB. Serving only.
  size_t cache_size = 32u << 20;
};

using FetchedDocuments = std::vector<std::optional<StoredDocument>>;

class DocumentStore {
 public:
  virtual ~DocumentStore() = default;

  // The documents numbered `ids`: element i answers ids[i], nullopt if it is not stored; ids may
  // repeat. All or nothing: one damaged document fails the call, since nothing may be silently
  // missing; whoever wants the rest asks again without it.
  // REQUIRES: sealed or opened for serving, else FAILED_PRECONDITION.
  virtual neptune::StatusOr<FetchedDocuments> Fetch(std::span<const uint64_t> ids) const = 0;

  // Adds documents; one whose doc_id is stored already replaces it. Not readable before Seal.
  // An error leaves the store fit only for destruction.
  virtual neptune::Status Put(std::span<const StoredDocument> batch) = 0;

  // Makes everything durable and readable; without it the directory can never be served.
  // A second call does nothing.
  virtual neptune::Status Seal() = 0;

  // Reads every stored byte and checks it. As slow as the disk; OK means no fetch will find damage.
  virtual neptune::Status Verify() const = 0;

  // How many different documents are stored; while building, those put so far.
  virtual uint64_t document_count() const = 0;

  // The document with this url; the one with the smallest number, if several have it. nullopt: none has.
  // Errors: UNIMPLEMENTED the store was built before stores knew their urls.
  virtual neptune::StatusOr<std::optional<uint64_t>> FindUrl(std::string_view url) const {
    return neptune::Unimplemented("a store that does not know its urls");
  }

  // The variant's name in cluster specs, for instance "rocksdb".
  virtual std::string_view name() const = 0;
};

}  // namespace search::docserver

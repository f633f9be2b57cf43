// Interface of document stores, which hold the documents of one partition by number.
//
// Depends on nothing of Neptune above base. A service module calls it on threads that may block.
// Threads: after opening for serving, or after Seal, Fetch, Verify, document_count and name are
//   thread-safe; Put and Seal belong to one thread and exclude all others.
// Errors: DATA_LOSS stored bytes are damaged; FAILED_PRECONDITION wrong mode or never sealed;
//   INVALID_ARGUMENT a limit below is exceeded, or a document that is put is not UTF-8; NOT_FOUND
//   no store in that directory; UNAVAILABLE file system error.
// Limits: kFetchCountMax ids per call; kDocumentSizeMax bytes per serialised document.

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
// A longer text is stored in pieces of at most this size, which are read one by one. Larger: fewer
// reads for a whole text, more work for the beginning of one.
inline constexpr size_t kTextPieceSize = 64u << 10;

struct DocumentStoreOptions {
  enum class Mode {
    // Reads a sealed directory. Any number of processes may read it at once; none writes to it.
    kServe,
    // Starts a new store: creates the directory and deletes an unsealed store in it; a sealed store
    // is an error. Call Put, then Seal; after that the same object can be read too.
    kBuild,
  };
  Mode mode = Mode::kServe;

  // Compression level of zstd. Larger: smaller files, slower building; the same reading speed. 1 to
  // 19. Default: 3, which has the best ratio per build time on HTML-derived text. Building only.
  int compression_level = 3;

  // Bytes of plain text compressed as one block. Larger: slightly better ratio, more work per
  // fetched document. Default: 2 KiB, one page of an encyclopedia or so; README.md has the
  // measurement. Building only.
  uint32_t block_size = 2u << 10;

  // Size of the cache of decompressed blocks, for stores that have one. Larger: fewer blocks are
  // read again; the operating system caches compressed blocks anyway. Default: 32 MiB. Serving
  // only.
  size_t cache_size = 32u << 20;
};

using FetchedDocuments = std::vector<std::optional<StoredDocument>>;

class DocumentStore {
 public:
  virtual ~DocumentStore() = default;

  // Returns the documents numbered `ids`: element i belongs to ids[i] and is nullopt if there is no
  // such document; ids may repeat. One damaged document fails the whole call, so that no document
  // is silently missing; the caller can fetch the others without it.
  // REQUIRES: sealed or opened for serving, else FAILED_PRECONDITION.
  neptune::StatusOr<FetchedDocuments> Fetch(std::span<const uint64_t> ids) const {
    return FetchBeginnings(ids, SIZE_MAX);
  }

  // The same, but only pieces of a text that begin in its first `text_size_max` bytes, or more;
  // more_text_size says how many bytes are left. Cost: linear in what is returned.
  virtual neptune::StatusOr<FetchedDocuments> FetchBeginnings(std::span<const uint64_t> ids,
                                                              size_t text_size_max) const = 0;

  // True if FetchBeginnings would probably wait for no disk, so that it can be called on a thread
  // that must not. Cost: less than fetching.
  // Default: false, for stores that cannot say.
  virtual bool IsInMemory(std::span<const uint64_t> ids, size_t text_size_max) const {
    return false;
  }

  // Adds documents; a document replaces an earlier one with the same doc_id. They are not readable
  // before Seal. After an error the store can only be destroyed.
  virtual neptune::Status Put(std::span<const StoredDocument> batch) = 0;

  // Makes all documents durable and readable; without Seal the directory can never be served.
  // A second call does nothing.
  virtual neptune::Status Seal() = 0;

  // Reads and checks every stored byte, at the speed of the disk. OK: no fetch will find damage.
  virtual neptune::Status Verify() const = 0;

  // DATA_LOSS if a file of the store was changed, truncated or partly lost since it was opened, so
  // that fetches may have missed documents. Callers ask after a fetch, before they answer. A single
  // damaged document is not that. Cost: a system call for each mapped file.
  // Default: OK, for stores that check what they read from their files each time.
  virtual neptune::Status CheckSound() const { return neptune::OkStatus(); }

  // Number of distinct documents stored; while building, of those put so far.
  virtual uint64_t document_count() const = 0;

  // Returns the number of the document with this url, the smallest if there are several; nullopt if
  // there is none. Errors: UNIMPLEMENTED the store was built without a table of urls.
  virtual neptune::StatusOr<std::optional<uint64_t>> FindUrl(std::string_view url) const {
    return neptune::Unimplemented("the document store has no table of urls");
  }

  // The variant's name in cluster specs, for instance "rocksdb".
  virtual std::string_view name() const = 0;
};

}  // namespace search::docserver

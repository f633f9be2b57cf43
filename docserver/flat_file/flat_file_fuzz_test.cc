// Any bytes as the files of a flat-file document store, with the checksums and the compression made
// right, which no mutation hits: the store is refused, or fetches say DATA_LOSS or give documents
// that were asked for. Blocks, headers, indexes and tables of urls are also tried as they are.
//
// The input is a sequence: a byte for the kind, a byte for the size, the bytes. Kinds: a document
// of the open block, its end (with the count of documents that it claims), an entry of the index,
// an entry of the table of urls.

#include <glog/logging.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

#include "docserver/flat_file/flat_file_store.h"
#include "docserver/flat_file/format.h"
#include "docserver/url_table.h"
#include "neptune/base/byte_order.h"
#include "neptune/base/strings.h"
#include "tools/bazel/fuzz/place.h"

namespace search::docserver::flat_file {
namespace {

constexpr uint64_t kIdsMax = 16;

neptune::FuzzPlace opened("a store is open");
neptune::FuzzPlace fetched("a document is fetched");
neptune::FuzzPlace refused("a fetch finds damage");
neptune::FuzzPlace found_url("a url has candidates");

std::string FolderOfThisProcess() {
  const char* parent = std::getenv("TEST_TMPDIR");
  std::string folder = neptune::StrCat(parent == nullptr ? "/tmp" : parent, "/flat_file_fuzz.",
                                       static_cast<int64_t>(::getpid()));
  std::filesystem::create_directories(folder);
  return folder;
}

// The files of a store, in the making.
class Files {
 public:
  void AddDocument(std::string_view bytes) { raw_ += bytes; }

  void EndBlock(uint8_t record_count) {
    std::string payload(ZSTD_compressBound(raw_.size()), '\0');
    const size_t size = ZSTD_compress(payload.data(), payload.size(), raw_.data(), raw_.size(), 1);
    CHECK(ZSTD_isError(size) == 0);
    payload.resize(size);
    const Block block = {static_cast<uint32_t>(raw_.size()), record_count, payload};
    last_block_ = data_.size();
    data_ += EncodeBlockHeader(block);
    data_ += payload;
    raw_.clear();
  }

  // Eight bits each: document, block (0: the last one), offset and size.
  void AddEntry(std::string_view bytes) {
    neptune::ByteReader in(bytes);
    IndexEntry entry;
    entry.doc_id = in.Number<uint8_t>() % kIdsMax;
    const uint8_t block = in.Number<uint8_t>();
    entry.block_offset =
        block == 0 ? last_block_ : data_.size() - std::min(data_.size(), size_t{block});
    entry.raw_offset = in.Number<uint8_t>();
    entry.raw_size = in.Number<uint8_t>();
    if (block == 255) entry.block_offset = ~uint64_t{0} - entry.raw_offset;
    if (entry.raw_size == 255) entry.raw_size = ~uint32_t{0};
    AppendIndexEntry(entry, &entries_);
  }

  void AddUrl(std::string_view bytes) {
    if (bytes.empty()) return;
    urls_.Add(bytes.substr(1), static_cast<uint8_t>(bytes[0]) % kIdsMax);
    has_urls_ = true;
  }

  void Write(const std::string& folder) {
    // Not synced, as WriteFileAtomically would.
    const auto put = [&](const char* name, std::string_view bytes) {
      std::ofstream(neptune::StrCat(folder, "/", name), std::ios::binary | std::ios::trunc)
          << bytes;
    };
    put(kDataFileName, data_);
    put(kIndexFileName, EncodeIndex(entries_, data_.size()));
    std::filesystem::remove(neptune::StrCat(folder, "/", kUrlTableName));
    if (has_urls_) CHECK(urls_.Write(folder).ok());
  }

 private:
  std::string data_ = EncodeDataHeader("");
  std::string raw_;
  uint64_t last_block_ = 0;
  std::string entries_;
  UrlTableWriter urls_;
  bool has_urls_ = false;
};

void CheckStore(const std::string& folder) {
  const auto store = OpenFlatFileStore(folder, {});
  if (!store.ok()) return;
  opened.Reach();
  (void)(*store)->Verify().ok();
  for (uint64_t id = 0; id < kIdsMax; ++id) {
    for (const size_t text_size_max : {size_t{0}, SIZE_MAX}) {
      const auto documents = (*store)->FetchBeginnings(std::span(&id, 1), text_size_max);
      if (!documents.ok()) {
        CHECK(documents.status().code() == neptune::StatusCode::kDataLoss) << documents.status();
        refused.Reach();
        continue;
      }
      CHECK_EQ(documents->size(), 1u);
      if (!documents->front()) continue;
      CHECK_EQ(documents->front()->doc_id(), id);
      fetched.Reach();
    }
  }
  for (const char* const url : {"", "u", "http://host/1"}) {
    const auto id = (*store)->FindUrl(url);
    if (id.ok() && *id) found_url.Reach();
  }
}

void CheckBytes(std::string_view bytes) {
  const auto block = DecodeBlock(bytes);
  if (block) CHECK_LE(block->stored_size(), bytes.size());
  const auto header = DecodeDataHeader(bytes);
  if (header) CHECK_LE(header->size, bytes.size());
  const std::string entries(bytes.substr(0, bytes.size() / kIndexEntrySize * kIndexEntrySize));
  const std::string index = EncodeIndex(entries, bytes.size());
  for (const std::string_view file : {bytes, std::string_view(index)}) {
    const auto view = IndexView::Open(file);
    if (!view) continue;
    for (uint64_t id = 0; id < kIdsMax; ++id) {
      const auto entry = view->Find(id);
      if (entry) CHECK_EQ(entry->doc_id, id);
    }
  }
}

void Run(std::string_view bytes) {
  static const std::string folder = FolderOfThisProcess();
  CheckBytes(bytes);
  Files files;
  neptune::ByteReader in(bytes);
  while (in.remaining() > 0) {
    const uint8_t kind = in.Number<uint8_t>();
    const std::string_view part = in.Counted<uint8_t>();
    switch (kind % 4) {
      case 0:
        files.AddDocument(part);
        break;
      case 1:
        files.EndBlock(part.empty() ? 0 : static_cast<uint8_t>(part[0]));
        break;
      case 2:
        files.AddEntry(part);
        break;
      default:
        files.AddUrl(part);
    }
  }
  files.Write(folder);
  CheckStore(folder);
}

}  // namespace
}  // namespace search::docserver::flat_file

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  search::docserver::flat_file::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}

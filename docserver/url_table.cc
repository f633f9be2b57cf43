#include "docserver/url_table.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace search::docserver {
namespace {

static_assert(std::endian::native == std::endian::little, "the file is little endian");

constexpr std::string_view kMagic = "NPUR";
constexpr uint32_t kVersion = 1;
constexpr size_t kHeaderSize = 24;
constexpr size_t kEntrySize = 16;

uint64_t HashOf(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

template <typename Number>
void Append(Number number, std::string* out) {
  out->append(reinterpret_cast<const char*>(&number), sizeof(number));
}

template <typename Number>
Number At(std::string_view bytes, size_t offset) {
  Number number = 0;
  std::memcpy(&number, bytes.data() + offset, sizeof(number));
  return number;
}

std::string PathIn(const std::string& directory) {
  return neptune::StrCat(directory, "/", kUrlTableName);
}

bool IsSound(std::string_view bytes) {
  if (bytes.size() < kHeaderSize || !bytes.starts_with(kMagic)) return false;
  const std::string_view entries = bytes.substr(kHeaderSize);
  return At<uint32_t>(bytes, 4) == kVersion && entries.size() % kEntrySize == 0 &&
         At<uint64_t>(bytes, 8) == entries.size() / kEntrySize &&
         At<uint64_t>(bytes, 16) == HashOf(entries);
}

}  // namespace

void UrlTableWriter::Add(std::string_view url, uint64_t doc_id) {
  entries_.emplace_back(HashOf(url), doc_id);
}

neptune::Status UrlTableWriter::Write(const std::string& directory) {
  std::sort(entries_.begin(), entries_.end());
  entries_.erase(std::unique(entries_.begin(), entries_.end()), entries_.end());
  std::string entries;
  entries.reserve(entries_.size() * kEntrySize);
  for (const auto& [hash, doc_id] : entries_) {
    Append(hash, &entries);
    Append(doc_id, &entries);
  }
  std::string file(kMagic);
  Append(kVersion, &file);
  Append(static_cast<uint64_t>(entries_.size()), &file);
  Append(HashOf(entries), &file);
  file += entries;
  return neptune::WriteFileAtomically(PathIn(directory), file);
}

neptune::StatusOr<UrlTable> UrlTable::Open(const std::string& directory) {
  NEPTUNE_ASSIGN_OR_RETURN(auto file, neptune::MappedFile::Open(PathIn(directory)));
  if (!IsSound(file.bytes())) return neptune::DataLoss(PathIn(directory), " is damaged");
  return UrlTable(std::move(file));
}

neptune::StatusOr<std::optional<UrlTable>> UrlTable::OpenIfThere(const std::string& directory) {
  auto table = Open(directory);
  if (table.status().code() == neptune::StatusCode::kNotFound) return std::nullopt;
  NEPTUNE_RETURN_IF_ERROR(table.status());
  return std::optional<UrlTable>(*std::move(table));
}

std::vector<uint64_t> UrlTable::Candidates(std::string_view url) const {
  const std::string_view entries = file_.bytes().substr(kHeaderSize);
  const uint64_t wanted = HashOf(url);
  size_t low = 0;
  size_t high = entries.size() / kEntrySize;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (At<uint64_t>(entries, middle * kEntrySize) < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  std::vector<uint64_t> doc_ids;
  for (size_t at = low * kEntrySize; at < entries.size() && doc_ids.size() < kUrlCandidatesMax;
       at += kEntrySize) {
    if (At<uint64_t>(entries, at) != wanted) break;
    doc_ids.push_back(At<uint64_t>(entries, at + 8));
  }
  return doc_ids;
}

}  // namespace search::docserver

#include "tools/build_index/spool.h"

#include <xxhash.h>

#include <cstring>
#include <utility>

namespace search::tools {
namespace {

using neptune::DataLoss;
using neptune::Status;
using neptune::StatusOr;

constexpr int kLevel = 1;
constexpr size_t kBlockSize = size_t{256} << 10;
constexpr size_t kNumberSizeMax = 10;

void AppendNumber(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) *out += static_cast<char>(value | 0x80);
  *out += static_cast<char>(value);
}

// Size of the number at the front of `bytes`, or 0 if it is incomplete.
size_t ReadNumber(std::string_view bytes, uint64_t* value) {
  *value = 0;
  for (size_t i = 0; i < bytes.size() && i < kNumberSizeMax; ++i) {
    const auto byte = static_cast<uint8_t>(bytes[i]);
    *value |= uint64_t{byte & 0x7Fu} << (7 * i);
    if (byte < 0x80) return i + 1;
  }
  return 0;
}

}  // namespace

UrlHash HashUrl(std::string_view url) {
  const XXH128_hash_t hash = XXH3_128bits(url.data(), url.size());
  return {hash.low64, hash.high64};
}

void RecordWriter::PutNumber(uint64_t value) { AppendNumber(value, &bytes_); }
void RecordWriter::PutText(std::string_view text) {
  AppendNumber(text.size(), &bytes_);
  bytes_ += text;
}
void RecordWriter::PutHash(const UrlHash& hash) {
  char bytes[sizeof(UrlHash)];
  memcpy(bytes, &hash, sizeof(bytes));
  bytes_.append(bytes, sizeof(bytes));
}

std::string_view RecordReader::Take(uint64_t size) {
  if (!ok_ || size > rest_.size()) {
    ok_ = false;
    return {};
  }
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

uint64_t RecordReader::ReadNextNumber() {
  uint64_t value = 0;
  const size_t size = ReadNumber(rest_, &value);
  ok_ = ok_ && size > 0;
  if (!ok_) return 0;
  rest_.remove_prefix(size);
  return value;
}

std::string_view RecordReader::ReadText() { return Take(ReadNextNumber()); }

UrlHash RecordReader::ReadHash() {
  UrlHash hash;
  const std::string_view bytes = Take(sizeof(hash));
  if (ok_) memcpy(&hash, bytes.data(), sizeof(hash));
  return hash;
}

StatusOr<SpoolWriter> SpoolWriter::Create(const std::string& path) {
  NEPTUNE_ASSIGN_OR_RETURN(auto sink, CreateFileSink(path, Packing::kZstd, kLevel));
  return SpoolWriter(std::move(sink));
}

Status SpoolWriter::Append(std::string_view record) {
  if (record.size() > kRecordSizeMax) {
    return neptune::ResourceExhausted("a record of ", record.size(), " bytes exceeds the limit");
  }
  std::string head;
  AppendNumber(record.size(), &head);
  NEPTUNE_RETURN_IF_ERROR(sink_->Write(head));
  return sink_->Write(record);
}

SpoolReader::SpoolReader(std::string path, std::unique_ptr<ByteSource> source)
    : path_(std::move(path)), source_(std::move(source)) {}

StatusOr<SpoolReader> SpoolReader::Open(const std::string& path) {
  NEPTUNE_ASSIGN_OR_RETURN(auto source, OpenByteSource(path));
  return SpoolReader(path, std::move(source));
}

StatusOr<bool> SpoolReader::Fill() {
  buffer_.erase(0, begin_);
  begin_ = 0;
  const size_t used = buffer_.size();
  buffer_.resize(used + kBlockSize);
  NEPTUNE_ASSIGN_OR_RETURN(const size_t got, source_->Read(buffer_.data() + used, kBlockSize));
  buffer_.resize(used + got);
  return got > 0;
}

StatusOr<bool> SpoolReader::Next(std::string_view* record) {
  while (true) {
    const std::string_view rest = std::string_view(buffer_).substr(begin_);
    uint64_t size = 0;
    const size_t head = ReadNumber(rest, &size);
    if (head > 0 && size > kRecordSizeMax) return DataLoss(path_, ": a record has an invalid size");
    if (head > 0 && rest.size() - head >= size) {
      *record = rest.substr(head, size);
      begin_ += head + size;
      return true;
    }
    NEPTUNE_ASSIGN_OR_RETURN(const bool more, Fill());
    if (more) continue;
    if (buffer_.empty()) return false;
    return DataLoss(path_, ": ends inside a record");
  }
}

void PutDocument(const SpooledDocument& document, RecordWriter* record) {
  record->PutNumber(document.doc_id);
  record->PutText(document.url);
  record->PutText(document.title);
  record->PutText(document.text);
  record->PutText(document.site);
  record->PutText(document.headings);
  record->PutText(document.public_url);
  record->PutText(document.structure);
  record->PutText(document.language);
  record->PutText(document.date);
}

StatusOr<SpooledDocument> ReadDocument(std::string_view record) {
  RecordReader reader(record);
  SpooledDocument document;
  document.doc_id = reader.ReadNextNumber();
  document.url = reader.ReadText();
  document.title = reader.ReadText();
  document.text = reader.ReadText();
  document.site = reader.ReadText();
  document.headings = reader.ReadText();
  document.public_url = reader.ReadText();
  document.structure = reader.ReadText();
  document.language = reader.ReadText();
  document.date = reader.ReadText();
  if (!reader.ok() || !reader.at_end()) return DataLoss("a spooled document is damaged");
  return document;
}

}  // namespace search::tools

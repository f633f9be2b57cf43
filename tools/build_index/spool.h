// Intermediate files of a build: documents, links and anchor texts, compressed.
//
// Threads: thread-compatible.
// Errors: kDataLoss for a damaged file (zstd's checksum, impossible lengths).
// Format: consecutive records, zstd; each a varint size and that many bytes; strings inside
//   have varint sizes before them. Spools live only as long as the build.
// Limits: records of kRecordSizeMax bytes.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "neptune/base/status.h"
#include "tools/corpus/corpus_document.h"
#include "tools/streams/byte_source.h"
#include "tools/streams/file_sink.h"

namespace search::tools {

inline constexpr size_t kRecordSizeMax = size_t{16} << 20;

// Identifies a url by a 128-bit hash.
struct UrlHash {
  uint64_t low = 0;
  uint64_t high = 0;

  friend bool operator==(const UrlHash&, const UrlHash&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const UrlHash& hash) {
    return H::combine(std::move(state), hash.low);
  }
};
UrlHash HashUrl(std::string_view url);

// Encodes values into a record.
class RecordWriter {
 public:
  void PutNumber(uint64_t value);
  void PutText(std::string_view text);
  void PutHash(const UrlHash& hash);
  const std::string& bytes() const { return bytes_; }
  void Clear() { bytes_.clear(); }

 private:
  std::string bytes_;
};

// Decodes a record; if it is too short, ok() is false and values are empty.
class RecordReader {
 public:
  explicit RecordReader(std::string_view bytes) : rest_(bytes) {}

  uint64_t ReadNextNumber();
  std::string_view ReadText();
  UrlHash ReadHash();
  bool at_end() const { return rest_.empty(); }
  bool ok() const { return ok_; }

 private:
  std::string_view Take(uint64_t size);

  std::string_view rest_;
  bool ok_ = true;
};

class SpoolWriter {
 public:
  static neptune::StatusOr<SpoolWriter> Create(const std::string& path);

  neptune::Status Append(std::string_view record);
  neptune::Status Commit() { return sink_->Commit(); }

 private:
  explicit SpoolWriter(std::unique_ptr<FileSink> sink) : sink_(std::move(sink)) {}
  std::unique_ptr<FileSink> sink_;
};

class SpoolReader {
 public:
  static neptune::StatusOr<SpoolReader> Open(const std::string& path);

  // Reads the next record, valid until the next call; returns false at the end.
  neptune::StatusOr<bool> Next(std::string_view* record);

 private:
  SpoolReader(std::string path, std::unique_ptr<ByteSource> source);

  // Returns false at the end of the file.
  neptune::StatusOr<bool> Fill();

  std::string path_;
  std::unique_ptr<ByteSource> source_;
  std::string buffer_;
  size_t begin_ = 0;
};

// A document in the form needed by the later stages.
struct SpooledDocument {
  uint64_t doc_id = 0;
  std::string_view url;
  std::string_view title;
  std::string_view text;
  std::string_view site;
  std::string_view headings;  // one a line
  std::string_view public_url;
  std::string_view structure;
  std::string_view language;
  std::string_view date;
};

void PutDocument(const SpooledDocument& document, RecordWriter* record);
// Returns views into the record. Errors: kDataLoss.
neptune::StatusOr<SpooledDocument> ReadDocument(std::string_view record);

}  // namespace search::tools

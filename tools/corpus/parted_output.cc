#include "tools/corpus/parted_output.h"

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "neptune/base/byte_order.h"
#include "neptune/base/checksum.h"
#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "tools/streams/digest.h"

namespace search::tools {
namespace {

using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

constexpr size_t kJobSizeMax = size_t{1} << 20;
constexpr size_t kStateSizeMax = size_t{256} << 20;
constexpr size_t kBlockSize = size_t{256} << 10;

constexpr uint64_t ConvertCounts::*kCounts[] = {
    &ConvertCounts::pages,         &ConvertCounts::written,  &ConvertCounts::redirects,
    &ConvertCounts::others,        &ConvertCounts::empty,    &ConvertCounts::duplicates,
    &ConvertCounts::bad,           &ConvertCounts::cut,      &ConvertCounts::links,
    &ConvertCounts::outside_links, &ConvertCounts::text_size};

struct PartState {
  std::string part_digest;
  ConvertCounts counts;
  std::vector<PageHash> hashes;
};

std::string Encode(const PartState& state) {
  std::string bytes;
  neptune::ByteWriter writer(&bytes);
  writer.Counted<uint8_t>(state.part_digest);
  for (const auto count : kCounts) writer.Number(state.counts.*count);
  for (const auto& [low, high] : state.hashes) {
    writer.Number(low);
    writer.Number(high);
  }
  writer.Number(neptune::Checksum64(bytes));
  return bytes;
}

// Returns nullopt if it is damaged.
std::optional<PartState> Decode(std::string_view bytes) {
  if (bytes.size() < sizeof(uint64_t)) return std::nullopt;
  const std::string_view body = bytes.substr(0, bytes.size() - sizeof(uint64_t));
  if (neptune::LoadBigEndian<uint64_t>(body.data() + body.size()) != neptune::Checksum64(body)) {
    return std::nullopt;
  }
  if (body.empty()) return std::nullopt;
  const size_t digest_size = static_cast<uint8_t>(body[0]);
  const size_t fixed_size = 1 + digest_size + std::size(kCounts) * sizeof(uint64_t);
  if (body.size() < fixed_size || (body.size() - fixed_size) % 16 != 0) return std::nullopt;
  PartState state;
  state.part_digest = body.substr(1, digest_size);
  neptune::ByteReader reader(body.substr(1 + digest_size));
  for (const auto count : kCounts) state.counts.*count = reader.Number<uint64_t>();
  for (size_t i = 0; i < (body.size() - fixed_size) / 16; ++i) {
    const auto low = reader.Number<uint64_t>();
    state.hashes.emplace_back(low, reader.Number<uint64_t>());
  }
  return state;
}

StatusOr<std::string> DigestOf(const std::string& part) {
  NEPTUNE_ASSIGN_OR_RETURN(const FileDigest digest, DigestFile(part));
  return StrCat(digest.size, " ", digest.xxh3);
}

// Appends the file's bytes as they are.
Status CopyTo(FileSink* sink, const std::string& path) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto file, neptune::MappedFile::Open(path));
  for (std::string_view rest = file.bytes(); !rest.empty();) {
    const std::string_view block = rest.substr(0, kBlockSize);
    NEPTUNE_RETURN_IF_ERROR(sink->Write(block));
    rest.remove_prefix(block.size());
  }
  return neptune::OkStatus();
}

}  // namespace

std::string PartedOutput::PartName(uint64_t part) const { return StrCat(folder_, "/", part); }

uint64_t SizeOfInput(const std::string& file) {
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(file, error);
  return error ? 0 : size;
}

std::string MarkOfInput(const std::string& file) {
  if (file == "-") return StrCat("standard input of process ", getpid(), "\n");
  std::error_code error;
  const auto time = std::filesystem::last_write_time(file, error).time_since_epoch().count();
  return StrCat(file, " ", SizeOfInput(file), " ", error ? 0 : time, "\n");
}

StatusOr<std::unique_ptr<PartedOutput>> PartedOutput::Open(const std::string& path,
                                                           const std::string& job,
                                                           DocumentWriter* writer) {
  std::unique_ptr<PartedOutput> output(new PartedOutput(path, writer));
  const std::string job_file = output->folder_ + "/job";
  const auto earlier = neptune::ReadFile(job_file, kJobSizeMax);
  if (!earlier.ok() || *earlier != job) {
    std::error_code error;
    std::filesystem::remove_all(output->folder_, error);
    std::filesystem::create_directories(output->folder_, error);
    if (error) return neptune::Unavailable("create ", output->folder_, ": ", error.message());
    NEPTUNE_RETURN_IF_ERROR(neptune::WriteFileAtomically(job_file, job));
  }
  NEPTUNE_RETURN_IF_ERROR(output->Restore());
  NEPTUNE_RETURN_IF_ERROR(output->BeginPart());
  return output;
}

Status PartedOutput::Restore() {
  for (;; ++part_) {
    const auto bytes = neptune::ReadFile(PartName(part_) + ".state", kStateSizeMax);
    if (!bytes.ok()) return neptune::OkStatus();
    const auto state = Decode(*bytes);
    if (!state) return neptune::OkStatus();
    const auto digest = DigestOf(PartName(part_));
    if (!digest.ok() || *digest != state->part_digest) return neptune::OkStatus();
    writer_->Restore(state->counts, state->hashes);
  }
}

Status PartedOutput::BeginPart() {
  NEPTUNE_ASSIGN_OR_RETURN(sink_, CreateFileSink(PartName(part_), PackingOfName(path_)));
  writer_->SetSink(sink_.get());
  return neptune::OkStatus();
}

Status PartedOutput::EndPart() {
  NEPTUNE_RETURN_IF_ERROR(sink_->Commit());
  PartState state;
  NEPTUNE_ASSIGN_OR_RETURN(state.part_digest, DigestOf(PartName(part_)));
  state.counts = writer_->counts();
  state.hashes = writer_->DrainNewHashes();
  return neptune::WriteFileAtomically(PartName(part_) + ".state", Encode(state));
}

Status PartedOutput::NextPart() {
  NEPTUNE_RETURN_IF_ERROR(EndPart());
  ++part_;
  return BeginPart();
}

Status PartedOutput::Commit() {
  NEPTUNE_RETURN_IF_ERROR(sink_->Commit());
  NEPTUNE_ASSIGN_OR_RETURN(const auto whole, CreateFileSink(path_, Packing::kNone));
  for (uint64_t part = 0; part <= part_; ++part) {
    NEPTUNE_RETURN_IF_ERROR(CopyTo(whole.get(), PartName(part)));
  }
  NEPTUNE_RETURN_IF_ERROR(whole->Commit());
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
  return neptune::OkStatus();
}

}  // namespace search::tools

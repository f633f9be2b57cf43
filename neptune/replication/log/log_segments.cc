#include "neptune/replication/log/log_segments.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

constexpr size_t kReadSize = 1u << 20;
constexpr size_t kPageSize = 4096;  // what is read around places that cannot be read
constexpr size_t kSaltDigits = 16;
constexpr size_t kNumberDigits = 8;

std::string Hexadecimal(uint64_t value, size_t digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(digits, '0');
  for (size_t i = digits; i > 0; --i, value /= 16) text[i - 1] = kDigits[value % 16];
  return text;
}

std::optional<uint64_t> ParseHexadecimal(std::string_view text, size_t digits) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value, 16);
  const bool is_number = text.size() == digits && parsed.ec == std::errc() && parsed.ptr == end;
  return is_number ? std::optional(value) : std::nullopt;
}

struct SegmentName {
  uint64_t salt = 0;
  uint32_t segment = 0;
};

// Returns nullopt for the names of other files.
std::optional<SegmentName> ParseName(std::string_view name) {
  if (name.size() != kSaltDigits + 1 + kNumberDigits || name[kSaltDigits] != '-') {
    return std::nullopt;
  }
  const auto salt = ParseHexadecimal(name.substr(0, kSaltDigits), kSaltDigits);
  const auto number = ParseHexadecimal(name.substr(kSaltDigits + 1), kNumberDigits);
  if (!salt || !number) return std::nullopt;
  return SegmentName{*salt, static_cast<uint32_t>(*number)};
}

}  // namespace

StatusOr<std::string> ReadPlace(const LogFile* file, const LogPlace& place) {
  if (file == nullptr) return DataLoss("segment ", place.segment, " is missing");
  NEPTUNE_ASSIGN_OR_RETURN(std::string bytes, file->ReadAt(place.offset, place.size));
  if (bytes.size() == place.size) return bytes;
  return DataLoss("segment ", place.segment, " ends before ", place.offset + place.size);
}

StatusOr<std::unique_ptr<LogSegments>> LogSegments::Open(LogFiles& files, uint64_t new_salt) {
  std::unique_ptr<LogSegments> segments(new LogSegments(files));
  NEPTUNE_RETURN_IF_ERROR(segments->OpenFound(new_salt));
  return segments;
}

Status LogSegments::OpenFound(uint64_t new_salt) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::vector<std::string> names, files_.List());
  std::optional<uint64_t> salt;
  for (const std::string& name : names) {
    const std::optional<SegmentName> parsed = ParseName(name);
    if (!parsed) continue;
    if (salt && *salt != parsed->salt) {
      return FailedPrecondition("log file ", name, " belongs to another log than those before it");
    }
    salt = salt_ = parsed->salt;
    NEPTUNE_RETURN_IF_ERROR(Add(parsed->segment));
  }
  if (!salt) salt_ = new_salt;
  return OkStatus();
}

std::string LogSegments::NameOf(uint32_t segment) const {
  return StrCat(Hexadecimal(salt_, kSaltDigits), "-", Hexadecimal(segment, kNumberDigits));
}

std::string LogSegments::mark_name() const {
  return StrCat(Hexadecimal(salt_, kSaltDigits), "-mark");
}

Status LogSegments::Add(uint32_t segment) {
  NEPTUNE_ASSIGN_OR_RETURN(std::unique_ptr<LogFile> file, files_.Open(NameOf(segment)));
  NEPTUNE_ASSIGN_OR_RETURN(const uint64_t size, file->Size());
  LeafLock lock(&mutex_);
  segments_[segment] = {std::move(file), size};
  return OkStatus();
}

LogSegments::Segment LogSegments::Find(uint32_t segment) const {
  LeafLock lock(&mutex_);
  const auto found = segments_.find(segment);
  return found == segments_.end() ? Segment() : found->second;
}

Status LogSegments::Load(
    const std::function<void(uint32_t segment, std::string_view bytes)>& visitor,
    uint64_t* unreadable_size) {
  std::map<uint32_t, Segment> segments;
  {
    LeafLock lock(&mutex_);
    segments = segments_;
  }
  for (const auto& [number, segment] : segments) {
    NEPTUNE_ASSIGN_OR_RETURN(const std::string bytes, ReadAround(segment, unreadable_size));
    visitor(number, bytes);
  }
  return OkStatus();
}

StatusOr<std::string> LogSegments::ReadAround(const Segment& segment,
                                              uint64_t* unreadable_size) const {
  std::string bytes;
  bytes.reserve(segment.size);
  size_t step = kReadSize;
  while (bytes.size() < segment.size) {
    const size_t wanted = std::min<uint64_t>(step, segment.size - bytes.size());
    StatusOr<std::string> read = segment.file->ReadAt(bytes.size(), wanted);
    if (read.ok() && !read->empty()) {
      bytes += *read;
      if (bytes.size() % kReadSize == 0) step = kReadSize;
    } else if (step > kPageSize) {
      step = kPageSize;
    } else {
      bytes.append(wanted, '\0');
      *unreadable_size += wanted;
    }
  }
  return bytes;
}

bool LogSegments::empty() const {
  LeafLock lock(&mutex_);
  return segments_.empty();
}

size_t LogSegments::count() const {
  LeafLock lock(&mutex_);
  return segments_.size();
}

uint32_t LogSegments::oldest() const {
  LeafLock lock(&mutex_);
  return segments_.begin()->first;
}

uint32_t LogSegments::newest() const {
  LeafLock lock(&mutex_);
  return segments_.rbegin()->first;
}

uint64_t LogSegments::newest_size() const {
  LeafLock lock(&mutex_);
  return segments_.rbegin()->second.size;
}

uint64_t LogSegments::size() const {
  LeafLock lock(&mutex_);
  uint64_t size = 0;
  for (const auto& [number, segment] : segments_) size += segment.size;
  return size;
}

std::optional<LogSegments::Extent> LogSegments::ExtentFrom(uint32_t segment) const {
  LeafLock lock(&mutex_);
  const auto found = segments_.lower_bound(segment);
  if (found == segments_.end()) return std::nullopt;
  return Extent{found->first, found->second.size, found->second.file};
}

Status LogSegments::Begin() { return Add(empty() ? 1 : newest() + 1); }

StatusOr<LogPlace> LogSegments::Append(std::string_view bytes) {
  const uint32_t number = newest();
  const Segment segment = Find(number);
  NEPTUNE_RETURN_IF_ERROR(segment.file->WriteAt(segment.size, bytes));
  NEPTUNE_RETURN_IF_ERROR(segment.file->Sync());
  LeafLock lock(&mutex_);
  segments_[number].size += bytes.size();
  return LogPlace{number, static_cast<uint32_t>(segment.size), static_cast<uint32_t>(bytes.size())};
}

Status LogSegments::Renew(const LogPlace& place, uint64_t end) {
  const Segment segment = Find(place.segment);
  NEPTUNE_ASSIGN_OR_RETURN(const std::string bytes, ReadPlace(segment.file.get(), place));
  NEPTUNE_RETURN_IF_ERROR(segment.file->WriteAt(place.offset, bytes));
  NEPTUNE_RETURN_IF_ERROR(segment.file->Sync());
  const uint32_t last = newest();
  const Segment cut = Find(last);
  if (cut.size == end) return OkStatus();
  NEPTUNE_RETURN_IF_ERROR(cut.file->Truncate(end));
  NEPTUNE_RETURN_IF_ERROR(cut.file->Sync());
  LeafLock lock(&mutex_);
  segments_[last].size = end;
  return OkStatus();
}

Status LogSegments::RemoveOldest() {
  const uint32_t number = oldest();
  NEPTUNE_RETURN_IF_ERROR(files_.Remove(NameOf(number)));
  LeafLock lock(&mutex_);
  segments_.erase(number);
  return OkStatus();
}

}  // namespace neptune

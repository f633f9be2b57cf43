#include "index/core/segment/section_check.h"

#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

namespace search::index {
namespace {

struct StateDeleter {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};

class FilesCheck {
 public:
  explicit FilesCheck(std::vector<const SectionFile*> files)
      : files_(std::move(files)), hash_(XXH3_createState()) {
    XXH3_64bits_reset(hash_.get());
  }

  neptune::StatusOr<size_t> ReadPart(size_t size) {
    while (file_ < files_.size()) {
      const SectionFile& file = *files_[file_];
      NEPTUNE_RETURN_IF_ERROR(file.CheckSound());
      if (section_ == file.section_count()) {
        ++file_;
        section_ = 0;
        continue;
      }
      const auto [bytes, checksum] = file.CheckedSection(section_);
      const std::string_view part = bytes.substr(offset_, size);
      XXH3_64bits_update(hash_.get(), part.data(), part.size());
      offset_ += part.size();
      if (offset_ == bytes.size()) NEPTUNE_RETURN_IF_ERROR(EndSection(file, checksum));
      if (!part.empty()) return part.size();
    }
    return 0;
  }

 private:
  neptune::Status EndSection(const SectionFile& file, uint64_t checksum) {
    const bool is_sound = XXH3_64bits_digest(hash_.get()) == checksum;
    XXH3_64bits_reset(hash_.get());
    offset_ = 0;
    ++section_;
    if (is_sound) return neptune::OkStatus();
    file.NoteDamage();
    return file.Damaged("checksum of a section, when the file was read again");
  }

  const std::vector<const SectionFile*> files_;
  const std::unique_ptr<XXH3_state_t, StateDeleter> hash_;
  size_t file_ = 0;
  size_t section_ = 0;
  size_t offset_ = 0;  // in the section
};

}  // namespace

PartCheck CheckOf(std::vector<const SectionFile*> files) {
  std::erase(files, nullptr);
  return [check = std::make_shared<FilesCheck>(std::move(files))](size_t size) {
    return check->ReadPart(std::max<size_t>(size, 1));
  };
}

}  // namespace search::index

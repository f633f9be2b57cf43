#include "index/tier/titles/title_table.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "index/core/segment/varint.h"
#include "neptune/base/strings.h"
#include "neptune/base/utf8.h"

namespace search::index {
namespace {

enum TitleSection : uint32_t { kRecordsSection = 1, kDocumentsSection = 2, kEndsSection = 3 };

// Removes a text with its size from the beginning; nullopt: there is none.
std::optional<std::string_view> TakeText(std::string_view* record) {
  uint64_t size = 0;
  const char* at = record->data();
  if (!GetVarint(&at, record->data() + record->size(), &size)) return std::nullopt;
  record->remove_prefix(static_cast<size_t>(at - record->data()));
  if (size > record->size()) return std::nullopt;
  const std::string_view text = record->substr(0, size);
  record->remove_prefix(size);
  return text;
}

}  // namespace

neptune::StatusOr<std::unique_ptr<TitleTableWriter>> TitleTableWriter::Create(
    const std::string& directory) {
  NEPTUNE_ASSIGN_OR_RETURN(
      auto file, SectionFileWriter::Create(neptune::StrCat(directory, "/", kTitleTableFileName),
                                           kTitleTableKind));
  file->BeginSection(kRecordsSection);
  return std::unique_ptr<TitleTableWriter>(new TitleTableWriter(std::move(file)));
}

neptune::Status TitleTableWriter::Add(uint64_t doc_id, const TitledDocument& document) {
  if (!doc_ids_.empty() && doc_id <= doc_ids_.back()) {
    return neptune::InvalidArgument("titles: document ", doc_id, " after ", doc_ids_.back());
  }
  record_.clear();
  for (const std::string_view text :
       {document.url, document.title, document.site, document.public_url}) {
    if (!neptune::IsUtf8(text)) return neptune::OkStatus();
    PutVarint(text.size(), &record_);
    record_.append(text);
  }
  if (record_.size() > kTitleRecordSizeMax) return neptune::OkStatus();
  file_->Append(record_);
  doc_ids_.push_back(doc_id);
  ends_.push_back((ends_.empty() ? 0 : ends_.back()) + record_.size());
  return neptune::OkStatus();
}

neptune::Status TitleTableWriter::Finish() {
  file_->BeginSection(kDocumentsSection);
  file_->AppendArray(std::span<const uint64_t>(doc_ids_));
  file_->BeginSection(kEndsSection);
  file_->AppendArray(std::span<const uint64_t>(ends_));
  return file_->Finish().status();
}

neptune::StatusOr<std::unique_ptr<TitleTable>> TitleTable::Open(const std::string& directory) {
  NEPTUNE_ASSIGN_OR_RETURN(auto file,
                           SectionFile::Open(neptune::StrCat(directory, "/", kTitleTableFileName),
                                             kTitleTableKind, OpenOptions()));
  return FromFile(std::move(file));
}

neptune::StatusOr<std::unique_ptr<TitleTable>> TitleTable::FromFile(
    std::unique_ptr<SectionFile> file) {
  std::unique_ptr<TitleTable> table(new TitleTable(std::move(file)));
  NEPTUNE_ASSIGN_OR_RETURN(table->records_, table->file_->Section(kRecordsSection));
  NEPTUNE_ASSIGN_OR_RETURN(table->doc_ids_, table->file_->Array<uint64_t>(kDocumentsSection));
  NEPTUNE_ASSIGN_OR_RETURN(table->ends_, table->file_->Array<uint64_t>(kEndsSection));
  const auto& ids = table->doc_ids_;
  const auto& ends = table->ends_;
  const bool ascends =
      std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()) == ids.end() &&
      std::is_sorted(ends.begin(), ends.end());
  const uint64_t end = ends.empty() ? 0 : ends.back();
  if (!ascends || ids.size() != ends.size() || end != table->records_.size()) {
    return table->file_->Damaged("the table of documents is not one");
  }
  return table;
}

std::optional<TitledDocument> TitleTable::Find(uint64_t doc_id) const {
  const auto found = std::lower_bound(doc_ids_.begin(), doc_ids_.end(), doc_id);
  if (found == doc_ids_.end() || *found != doc_id) return std::nullopt;
  const auto index = static_cast<size_t>(found - doc_ids_.begin());
  // Read once: mapped bytes may change under way.
  const uint64_t begin = index == 0 ? 0 : ends_[index - 1];
  const uint64_t end = ends_[index];
  if (begin > end || end > records_.size()) {
    file_->NoteDamage();
    return std::nullopt;
  }
  std::string_view record = records_.substr(begin, end - begin);
  TitledDocument document;
  for (std::string_view* const text :
       {&document.url, &document.title, &document.site, &document.public_url}) {
    const std::optional<std::string_view> taken = TakeText(&record);
    if (!taken) {
      file_->NoteDamage();
      return std::nullopt;
    }
    *text = *taken;
  }
  return document;
}

}  // namespace search::index

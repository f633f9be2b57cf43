#include "tools/lab/search/document_ledger.h"

#include <algorithm>
#include <utility>

#include "index/updates/document_change.h"
#include "neptune/base/strings.h"

namespace search::lab {
namespace {

using neptune::StrCat;

constexpr int kTriesMax = 8;

}  // namespace

DocumentWrite DocumentLedger::Next(neptune::RandomSource& random) {
  ++write_count_;
  const double kind = random.Uniform();
  std::optional<DocumentWrite> write;
  if (kind >= options_.new_share) {
    write = Change(random, kind < options_.new_share + options_.removal_share);
  }
  if (!write.has_value()) write = NewDocument();
  if (!write->removes) write->word = StrCat("change", write_count_);
  Document& document = documents_[write->doc_id];
  document.url = write->url;
  document.is_busy = true;
  return *std::move(write);
}

DocumentWrite DocumentLedger::NewDocument() {
  const std::string url = StrCat("https://added/", write_count_);
  return {.doc_id = index::DocIdOfUrl(url), .is_new = true, .url = url};
}

std::optional<DocumentWrite> DocumentLedger::Change(neptune::RandomSource& random, bool removes) {
  for (int i = 0; i < kTriesMax; ++i) {
    const bool of_published = !removes && options_.published_count > 0 && random.Uniform() < 0.5;
    if (!of_published && added_.empty()) continue;
    const uint64_t doc_id =
        of_published ? random.Below(options_.published_count) : added_[random.Below(added_.size())];
    const Document& document = documents_[doc_id];
    if (document.is_busy || document.is_unknown) continue;
    const std::string url = of_published ? StrCat("https://made/", doc_id) : document.url;
    return DocumentWrite{.doc_id = doc_id,
                         .is_published = of_published,
                         .removes = removes,
                         .url = url,
                         .word_before = document.word};
  }
  return std::nullopt;
}

void DocumentLedger::Acknowledge(const DocumentWrite& write) {
  Document& document = documents_.at(write.doc_id);
  document.is_busy = false;
  if (!document.word.empty()) document.words_before.push_back(document.word);
  document.word = write.word;
  if (write.is_new) added_.push_back(write.doc_id);
  if (write.removes) std::erase(added_, write.doc_id);
}

void DocumentLedger::GiveUp(const DocumentWrite& write) {
  Document& document = documents_.at(write.doc_id);
  document.is_busy = false;
  document.is_unknown = true;
}

std::vector<Expectation> DocumentLedger::Expectations() const {
  std::vector<Expectation> expectations;
  for (const auto& [doc_id, document] : documents_) {
    for (const std::string& word : document.words_before) {
      expectations.push_back({word, std::nullopt});
    }
    if (document.is_busy || document.is_unknown || document.word.empty()) continue;
    expectations.push_back({document.word, doc_id});
  }
  return expectations;
}

}  // namespace search::lab

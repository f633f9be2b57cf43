#include "index/tier/title_operators.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace search::index {
namespace {

void SetTitle(const TitledDocument& document, DocumentTitle* title) {
  title->set_url(std::string(document.url));
  title->set_title(std::string(document.title));
  title->set_site(std::string(document.site));
  title->set_public_url(std::string(document.public_url));
}

}  // namespace

void AddTitles(const TitleTable& titles, uint32_t count, TierAnswer* answer) {
  const int titled = std::min(answer->hits_size(), static_cast<int>(count));
  for (int i = 0; i < titled; ++i) {
    TierHit& hit = *answer->mutable_hits(i);
    const std::optional<TitledDocument> document = titles.Find(hit.doc_id());
    if (document) SetTitle(*document, hit.mutable_title());
  }
}

neptune::StatusOr<TitlesAnswer> TitlesOperator(const TitleTable* titles, const TitlesQuery& query) {
  if (query.doc_ids_size() > static_cast<int>(kTitledDocumentsMax)) {
    return neptune::InvalidArgument(query.doc_ids_size(), " titles requested, more than ",
                                    kTitledDocumentsMax);
  }
  std::map<uint64_t, TitledDocument> known;
  for (const uint64_t doc_id : query.doc_ids()) {
    const auto document = titles == nullptr ? std::nullopt : titles->Find(doc_id);
    if (document) known.emplace(doc_id, *document);
  }
  TitlesAnswer answer;
  for (const auto& [doc_id, document] : known) {
    DocumentTitle* const title = answer.add_documents();
    title->set_doc_id(doc_id);
    SetTitle(document, title);
  }
  return answer;
}

TitlesAnswer MergeTitlesAnswers(const TitlesAnswer& a, const TitlesAnswer& b) {
  std::map<std::pair<uint64_t, std::string>, const DocumentTitle*> all;
  for (const TitlesAnswer* const answer : {&a, &b}) {
    for (const DocumentTitle& document : answer->documents()) {
      all.emplace(std::pair(document.doc_id(), document.SerializeAsString()), &document);
    }
  }
  TitlesAnswer merged;
  for (const auto& [key, document] : all) {
    const int count = merged.documents_size();
    if (count > 0 && merged.documents(count - 1).doc_id() == key.first) continue;
    *merged.add_documents() = *document;
  }
  merged.set_index_version(std::min(a.index_version(), b.index_version()));
  return merged;
}

}  // namespace search::index

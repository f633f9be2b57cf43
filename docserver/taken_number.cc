#include "docserver/taken_number.h"

#include <cstdint>
#include <span>

#include "index/updates/document_change.h"

namespace search::docserver {

neptune::StatusOr<bool> IsNumberTaken(const DocumentStore& store, std::string_view url) {
  const uint64_t number = index::DocIdOfUrl(url);
  NEPTUNE_ASSIGN_OR_RETURN(const FetchedDocuments documents,
                           store.FetchBeginnings(std::span(&number, 1), /*text_size_max=*/0));
  return documents[0].has_value() && documents[0]->url() != url;
}

}  // namespace search::docserver

#include "index/core/segment/site_list.h"

#include <utility>

#include "index/core/segment/format.h"
#include "index/core/segment/posting_cursor.h"
#include "index/core/segment/term_dictionary.h"

namespace search::index {
namespace {

neptune::StatusOr<uint32_t> CountLive(const Segment& segment, const LiveDocuments* live,
                                      const TermEntry& entry) {
  if (live == nullptr) return entry.document_frequency;
  uint32_t count = 0;
  PostingCursor cursor(segment.postings(), entry, segment.document_count());
  while (cursor.Next() != kNoDocument) count += live->IsLive(cursor.ordinal()) ? 1 : 0;
  if (cursor.damaged()) return neptune::DataLoss("the postings of a site are damaged");
  return count;
}

}  // namespace

neptune::StatusOr<std::vector<SiteCount>> ListSites(const Segment& segment,
                                                    const LiveDocuments* live,
                                                    const std::function<bool()>& stop) {
  std::vector<SiteCount> sites;
  TermCursor cursor(segment.terms());
  for (size_t read = 0; read < kSiteKeysMax && cursor.Next(); ++read) {
    if (cursor.key()[0] != kSiteKeyPrefix) break;
    if (read % kSiteKeysPerPoll == 0 && stop && stop()) break;
    NEPTUNE_ASSIGN_OR_RETURN(const uint32_t count, CountLive(segment, live, cursor.entry()));
    if (count > 0) sites.push_back({std::string(cursor.key().substr(1)), count});
  }
  NEPTUNE_RETURN_IF_ERROR(cursor.status());
  return sites;
}

neptune::StatusOr<uint32_t> CountSite(const Segment& segment, const LiveDocuments* live,
                                      std::string_view name) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto entry, segment.terms().Find(Segment::SiteKey(name)));
  if (!entry.has_value()) return 0;
  return CountLive(segment, live, *entry);
}

}  // namespace search::index

#include "index/core/search/site_column.h"

#include "index/core/segment/format.h"
#include "index/core/segment/posting_cursor.h"
#include "index/core/segment/term_dictionary.h"

namespace search::index {

neptune::StatusOr<SiteColumn> SiteColumn::Read(const Segment& segment) {
  SiteColumn column;
  column.sites_.assign(segment.document_count(), kNone);
  TermCursor terms(segment.terms());
  while (terms.Next() && terms.key()[0] == kSiteKeyPrefix) {
    if (column.names_.size() == kSiteColumnNamesMax) {
      column = SiteColumn();
      column.is_known_ = false;
      return column;
    }
    const auto site = static_cast<uint16_t>(column.names_.size());
    const std::string& name = column.names_.emplace_back(terms.key().substr(1));
    PostingCursor postings(segment.postings(), terms.entry(), segment.document_count());
    while (postings.Next() != kNoDocument) {
      uint16_t& known = column.sites_[postings.ordinal()];
      if (known == kNone || column.names_[known].size() < name.size()) known = site;
    }
    if (postings.damaged()) {
      return neptune::DataLoss(segment.name(), ": the postings of a site are damaged");
    }
  }
  NEPTUNE_RETURN_IF_ERROR(neptune::Annotate(terms.status(), segment.name()));
  return column;
}

}  // namespace search::index

// The pages of a corpus with the links between them, and what these say about each page: the extra
// text and the static rank that an index of the corpus gets (tools/build_index).
//
// Reads files only in Read.
// Threads: immutable.
// Errors: those of the stream; a line without a valid document is skipped.
// Limits: kLinkedPagesMax pages. Holds titles, headings and texts of links in memory, not the texts
//   of pages.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/status.h"
#include "tools/build_index/page_rank.h"
#include "tools/evaluate/collection_index.h"
#include "tools/evaluate/known_items.h"
#include "tools/evaluate/setting.h"

namespace search::tools {

inline constexpr size_t kLinkedPagesMax = size_t{1} << 24;

class LinkedPages {
 public:
  static neptune::StatusOr<LinkedPages> Read(const std::string& documents_path);

  const std::vector<NamedPage>& pages() const { return pages_; }

  // Links to a page whose text has a held-back key of it do not count, for its extra text and for
  // its rank; nor do headings.
  LinkEvidenceByUrl Evidence(const EvidenceOptions& options, const HeldBackKeys& held_back) const;

 private:
  struct Link {
    uint32_t from = 0;
    uint32_t to = 0;
    std::string text;  // may be empty
    std::string key;   // of the text
  };

  // Links without those that are held back, in the order of the corpus.
  std::vector<const Link*> KeptLinks(const HeldBackKeys& held_back) const;
  std::string HeadingLines(uint32_t page, uint32_t copies, const HeldBackKeys& held_back) const;

  std::vector<NamedPage> pages_;
  std::vector<Link> links_;
};

}  // namespace search::tools

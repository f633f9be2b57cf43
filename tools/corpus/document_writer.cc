#include "tools/corpus/document_writer.h"

#include <xxhash.h>

#include "neptune/base/strings.h"

namespace search::tools {

using neptune::OkStatus;
using neptune::Status;
using neptune::StrCat;

Status DocumentWriter::Bad(const std::string& reason) {
  ++counts_.pages;
  ++counts_.bad;
  if (options_.fail_on_bad_input) return neptune::InvalidArgument(reason);
  if (options_.report && counts_.bad <= kReportsMax) options_.report(reason);
  return OkStatus();
}

Status DocumentWriter::Take(ConvertedPage page) {
  if (!page.status.ok()) return Bad(std::string(neptune::ToStd(page.status.message())));
  ++counts_.pages;
  const CorpusDocument& document = page.document;
  if (page.is_other) {
    ++counts_.others;
  } else if (page.is_redirect) {
    ++counts_.redirects;
  } else if (document.text.size() < options_.text_size_min) {
    ++counts_.empty;
  } else if (!IsNew(document)) {
    ++counts_.duplicates;
  } else {
    return Write(page);
  }
  return OkStatus();
}

void DocumentWriter::Restore(const ConvertCounts& counts, const std::vector<PageHash>& hashes) {
  counts_ = counts;
  seen_.insert(hashes.begin(), hashes.end());
}

bool DocumentWriter::IsNew(const CorpusDocument& document) {
  const uint64_t title = XXH3_64bits(document.title.data(), document.title.size());
  const XXH128_hash_t hash =
      XXH3_128bits_withSeed(document.text.data(), document.text.size(), title);
  const PageHash page = {hash.low64, hash.high64};
  if (!seen_.insert(page).second) return false;
  new_hashes_.push_back(page);
  return true;
}

Status DocumentWriter::Write(const ConvertedPage& page) {
  ++counts_.written;
  counts_.cut += page.is_cut ? 1 : 0;
  counts_.links += page.document.links.size();
  counts_.outside_links += page.outside_links;
  counts_.text_size += page.document.text.size();
  line_.clear();
  AppendJsonLine(page.document, &line_);
  return sink_->Write(line_);
}

std::string Summary(const ConvertCounts& counts) {
  const std::string others =
      counts.others == 0 ? "" : StrCat(WithThousands(counts.others), " of other namespaces, ");
  return StrCat(WithThousands(counts.written), " of ", WithThousands(counts.pages),
                " pages written (", WithThousands(counts.text_size >> 10), " KiB of text, ",
                WithThousands(counts.links), " links between them, ",
                WithThousands(counts.outside_links),
                " to other pages; skipped: ", WithThousands(counts.redirects), " redirects, ",
                others, WithThousands(counts.empty), " with too little text, ",
                WithThousands(counts.duplicates), " duplicates, ", WithThousands(counts.bad),
                " bad; cut at a limit: ", WithThousands(counts.cut), ")");
}

}  // namespace search::tools

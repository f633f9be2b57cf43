#include "tools/ciff/ciff_export.h"

#include <utility>

#include "docserver/registry.h"
#include "neptune/base/strings.h"
#include "tools/build_index/index_manifest.h"
#include "tools/ciff/document_name.h"

namespace search::tools {
namespace {

using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

constexpr std::string_view kSegmentVariant = "segment";

// The first variant of each tier, which is the one in tier1/ and tier2/.
bool IsTier(const ManifestPart& part) { return part.name == "tier1" || part.name == "tier2"; }

StatusOr<std::vector<std::unique_ptr<index::Segment>>> OpenSegments(const std::string& folder,
                                                                    const IndexManifest& manifest) {
  std::vector<std::unique_ptr<index::Segment>> segments;
  for (const ManifestPart& part : manifest.parts) {
    if (!IsTier(part)) continue;
    if (part.implementation != kSegmentVariant) {
      return neptune::FailedPrecondition("export: ", part.name, " is of variant '",
                                         part.implementation, "', only segment can be exported");
    }
    for (const ManifestPartition& partition : part.partitions) {
      NEPTUNE_ASSIGN_OR_RETURN(auto segment,
                               index::Segment::Open(StrCat(folder, "/", partition.folder)));
      segments.push_back(std::move(segment));
    }
  }
  return segments;
}

// Finds the addresses of documents in the stores of an index.
class AddressBook {
 public:
  static StatusOr<AddressBook> Open(const std::string& folder, const IndexManifest& manifest) {
    AddressBook book;
    for (const ManifestPart& part : manifest.parts) {
      if (part.name != "docs") continue;
      for (const ManifestPartition& partition : part.partitions) {
        NEPTUNE_ASSIGN_OR_RETURN(
            auto store, docserver::OpenDocumentStore(part.implementation,
                                                     StrCat(folder, "/", partition.folder), {}));
        book.stores_.push_back(std::move(store));
      }
    }
    return book;
  }

  // A document without an address is named by its number.
  StatusOr<std::vector<std::string>> Names(std::span<const uint64_t> doc_ids) const {
    std::vector<std::string> names(doc_ids.size());
    for (size_t i = 0; i < doc_ids.size(); ++i) names[i] = StrCat(doc_ids[i]);
    for (size_t s = 0; s < stores_.size(); ++s) {
      std::vector<uint64_t> ids;
      std::vector<size_t> places;
      for (size_t i = 0; i < doc_ids.size(); ++i) {
        if (doc_ids[i] % stores_.size() != s) continue;
        ids.push_back(doc_ids[i]);
        places.push_back(i);
      }
      NEPTUNE_ASSIGN_OR_RETURN(const auto documents, stores_[s]->Fetch(ids));
      for (size_t i = 0; i < places.size(); ++i) {
        if (documents[i] && !documents[i]->url().empty()) {
          names[places[i]] = NameOfAddress(documents[i]->url());
        }
      }
    }
    return names;
  }

 private:
  std::vector<std::unique_ptr<docserver::DocumentStore>> stores_;
};

}  // namespace

StatusOr<CiffCounts> ExportCiff(const CiffExportOptions& options) {
  NEPTUNE_ASSIGN_OR_RETURN(const IndexManifest manifest, ReadIndexManifest(options.folder));
  NEPTUNE_ASSIGN_OR_RETURN(const auto segments, OpenSegments(options.folder, manifest));
  NEPTUNE_ASSIGN_OR_RETURN(const AddressBook book, AddressBook::Open(options.folder, manifest));
  NEPTUNE_ASSIGN_OR_RETURN(const auto sink,
                           CreateFileSink(options.output, PackingOfName(options.output)));
  const std::string description =
      options.description.empty()
          ? StrCat("Index version ", manifest.index_version,
                   "; words are folded and stemmed; tf and doclength are over title, body and "
                   "anchor text together")
          : options.description;
  Progress progress({.label = "exporting",
                     .unit = "words",
                     .total = 0,
                     .out = options.progress_out,
                     .clock = options.clock});
  NEPTUNE_ASSIGN_OR_RETURN(
      const CiffCounts counts,
      ExportSegments(
          segments, [&book](std::span<const uint64_t> ids) { return book.Names(ids); }, description,
          sink.get(), &progress));
  NEPTUNE_RETURN_IF_ERROR(sink->Commit());
  return counts;
}

}  // namespace search::tools

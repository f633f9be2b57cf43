#include "frontend/documents/document_routing.h"

#include <map>
#include <string_view>
#include <utility>

#include "docserver/document_service.h"
#include "index/tier/tier_service.h"
#include "index/updates/document_change.h"

namespace search::frontend {
namespace {

constexpr size_t kRoutedSizeMax = index::kPartitionChangeSizeMax / 2;

class Router {
 public:
  void Add(std::string_view service, uint32_t partition_count, const PlacedEdit& placed,
           bool holds) {
    if (partition_count == 0) return;
    index::DocumentChange change;
    change.set_doc_id(placed.edit->doc_id);
    change.set_version(placed.version);
    if (holds && placed.edit->content.has_value()) {
      *change.mutable_upsert() = *placed.edit->content;
    } else {
      change.mutable_removal();
    }
    const auto partition = static_cast<uint32_t>(placed.edit->doc_id % partition_count);
    Open& open = open_[{service, partition}];
    const size_t size = change.ByteSizeLong();
    if (open.change.documents_size() == index::kDocumentsOfChangeMax ||
        open.size + size > kRoutedSizeMax) {
      Close(service, partition, &open);
    }
    open.size += size;
    *open.change.add_documents() = std::move(change);
  }

  std::vector<RoutedChange> Finish() {
    for (auto& [key, open] : open_) Close(key.first, key.second, &open);
    return std::move(routed_);
  }

 private:
  struct Open {
    index::PartitionChange change;
    size_t size = 0;
  };

  void Close(std::string_view service, uint32_t partition, Open* open) {
    if (open->change.documents_size() == 0) return;
    routed_.push_back({std::string(service), partition, std::move(open->change)});
    *open = Open();
  }

  std::map<std::pair<std::string_view, uint32_t>, Open> open_;
  std::vector<RoutedChange> routed_;
};

}  // namespace

bool BelongsToTier1(const DocumentEdit& edit, bool is_in_tier2, float tier1_rank_min) {
  if (edit.content.has_value() && edit.content->has_static_rank()) {
    return edit.content->static_rank() >= tier1_rank_min;
  }
  return !is_in_tier2;
}

std::vector<RoutedChange> RouteEdits(const std::vector<PlacedEdit>& edits,
                                     const DocumentPartitions& partitions) {
  Router router;
  for (const PlacedEdit& edit : edits) {
    const bool in_tier1 = edit.in_tier1 || partitions.tier2 == 0;
    router.Add(docserver::kDocumentService, partitions.documents, edit, true);
    router.Add(index::kTier1Service, partitions.tier1, edit, in_tier1);
    router.Add(index::kTier2Service, partitions.tier2, edit, !in_tier1);
  }
  return router.Finish();
}

}  // namespace search::frontend

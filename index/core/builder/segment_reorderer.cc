#include "index/core/builder/segment_reorderer.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "index/core/builder/segment_rewriter.h"
#include "index/core/reordering/forward_index.h"
#include "index/core/segment/segment_reader.h"

namespace search::index {
namespace {

neptune::StatusOr<std::vector<uint32_t>> NewOrdinals(const Segment& segment,
                                                     const SegmentReorderOptions& options) {
  NEPTUNE_ASSIGN_OR_RETURN(auto index, MakeForwardIndex(segment, options.memory_size_max));
  const std::vector<uint32_t> order = ReorderDocuments(std::move(index), options.order);
  std::vector<uint32_t> new_ordinals(order.size());
  for (uint32_t at = 0; at < order.size(); ++at) new_ordinals[order[at]] = at;
  return new_ordinals;
}

// Removes the directory and its contents on every return path.
struct WorkingFolder {
  explicit WorkingFolder(std::string path_in) : path(std::move(path_in)) {}
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;
  ~WorkingFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  const std::string path;
};

}  // namespace

neptune::StatusOr<SegmentSummary> ReorderSegment(const std::string& directory,
                                                 const SegmentReorderOptions& options) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto segment, Segment::Open(directory));
  std::vector<RewriteInput> inputs(1);
  inputs[0].segment = segment.get();
  NEPTUNE_ASSIGN_OR_RETURN(inputs[0].new_ordinals, NewOrdinals(*segment, options));
  const WorkingFolder working(directory + "/reordered.part");
  NEPTUNE_ASSIGN_OR_RETURN(const SegmentSummary summary,
                           RewriteSegments(inputs, segment->document_count(), working.path));
  // The statistics describe the segment before reordering.
  ::unlink(neptune::StrCat(directory, "/", kStatisticsFileName).c_str());
  const std::string from = neptune::StrCat(working.path, "/", kSegmentFileName);
  const std::string to = neptune::StrCat(directory, "/", kSegmentFileName);
  if (std::rename(from.c_str(), to.c_str()) != 0) {
    return neptune::Unavailable("cannot rename ", from, ": ", std::strerror(errno));
  }
  return summary;
}

}  // namespace search::index

#include "neptune/examples/photo_album/image_client.h"

#include <functional>
#include <map>
#include <utility>

#include "neptune/examples/photo_album/image_store_module.h"
#include "neptune/examples/photo_album/in_parallel.h"

namespace neptune::examples::photo_album {
namespace {

constexpr Duration kNoStaleness{0};

template <typename Answer, typename Request>
StatusOr<Answer> Ask(ReplicaSession& session, uint32_t partition, const char* method,
                     AccessMode access, const Request& request, const ReplicaCallOptions& options) {
  Data response;
  NEPTUNE_RETURN_IF_ERROR(session.Call(
      {ServiceName(kImageStoreService), PartitionId(partition), MethodName(method), access},
      Data::Of(request), &response, options));
  NEPTUNE_ASSIGN_OR_RETURN(const Answer* const answer, response.As<Answer>());
  return *answer;
}

// Returns the positions of `ids` by partition.
std::map<uint32_t, std::vector<size_t>> Group(const std::vector<ImageId>& ids,
                                              uint32_t partition_count) {
  std::map<uint32_t, std::vector<size_t>> groups;
  for (size_t i = 0; i < ids.size(); ++i) {
    groups[PartitionOfImage(ids[i], partition_count)].push_back(i);
  }
  return groups;
}

// Reads thumbnails of one partition into `found` at `positions`. On error some are unknown.
Status ReadGroup(ReplicaSession& session, uint32_t partition, const std::vector<ImageId>& ids,
                 std::vector<size_t> positions, const ReplicaCallOptions& first_options,
                 std::vector<std::optional<Thumbnail>>* found) {
  ReplicaCallOptions options = first_options;
  while (!positions.empty()) {
    ReadThumbnailsRequest request;
    for (const size_t position : positions) *request.add_ids() = ids[position];
    NEPTUNE_ASSIGN_OR_RETURN(Thumbnails answer,
                             Ask<Thumbnails>(session, partition, kReadThumbnailsMethod,
                                             AccessMode::kRead, request, options));
    if (answer.thumbnails_size() != request.ids_size()) {
      return Internal("image partition ", partition, " answered ", answer.thumbnails_size(), " of ",
                      request.ids_size(), " thumbnails");
    }
    const bool is_final = options.staleness_max.has_value();
    std::vector<size_t> unknown;
    for (int i = 0; i < answer.thumbnails_size(); ++i) {
      Thumbnail& thumbnail = *answer.mutable_thumbnails(i);
      const size_t position = positions[static_cast<size_t>(i)];
      if (thumbnail.is_there() || is_final) {
        (*found)[position] = std::move(thumbnail);
      } else {
        unknown.push_back(position);
      }
    }
    positions = std::move(unknown);
    options.staleness_max = kNoStaleness;
  }
  return OkStatus();
}

}  // namespace

Status ImageClient::Store(ReplicaSession& session, const StoreImageRequest& request,
                          const RequestId& name, TimePoint deadline) const {
  return Ask<StoreImageResult>(session, PartitionOfImage(request.id(), partition_count_),
                               kStoreImageMethod, AccessMode::kWrite, request,
                               {.deadline = deadline, .id = name})
      .status();
}

StatusOr<Image> ImageClient::Read(ReplicaSession& session, const ImageId& id) const {
  const uint32_t partition = PartitionOfImage(id, partition_count_);
  ReadImageRequest request;
  *request.mutable_id() = id;
  StatusOr<Image> image =
      Ask<Image>(session, partition, kReadImageMethod, AccessMode::kRead, request, {});
  if (image.status().code() != StatusCode::kNotFound) return image;
  return Ask<Image>(session, partition, kReadImageMethod, AccessMode::kRead, request,
                    {.staleness_max = kNoStaleness});
}

FoundThumbnails ImageClient::ReadThumbnails(const ClientSession& session,
                                            const std::vector<ImageId>& ids,
                                            TimePoint deadline) const {
  const auto groups = Group(ids, partition_count_);
  FoundThumbnails found;
  found.thumbnails.resize(ids.size());
  std::map<uint32_t, Status> outcomes;
  std::vector<std::function<void()>> tasks;
  for (const auto& [partition, positions] : groups) {
    Status& outcome = outcomes[partition];
    tasks.push_back([&, partition = partition, &positions = positions] {
      ReplicaSession own(session);
      outcome =
          ReadGroup(own, partition, ids, positions, {.deadline = deadline}, &found.thumbnails);
    });
  }
  RunInParallel(tasks);
  for (const auto& [partition, outcome] : outcomes) {
    if (!outcome.ok()) found.missing_partitions.push_back(partition);
  }
  return found;
}

std::vector<ImageId> ImageClient::Delete(const ClientSession& session,
                                         const std::vector<ImageId>& ids,
                                         TimePoint deadline) const {
  const auto groups = Group(ids, partition_count_);
  std::vector<ImageId> deleted;
  std::vector<std::function<void()>> tasks;
  for (const auto& [partition, positions] : groups) {
    tasks.push_back([&, partition = partition, &positions = positions] {
      ReplicaSession own(session);
      DeleteImagesRequest request;
      for (const size_t position : positions) *request.add_ids() = ids[position];
      const auto result = Ask<DeleteImagesResult>(
          own, partition, kDeleteImagesMethod, AccessMode::kWrite, request, {.deadline = deadline});
      if (result.ok()) deleted.insert(deleted.end(), request.ids().begin(), request.ids().end());
    });
  }
  RunInParallel(tasks);
  return deleted;
}

}  // namespace neptune::examples::photo_album

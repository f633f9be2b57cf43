#include "index/tier/statistics/renewal_attempt.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "index/tier/statistics/statistics_messages.h"
#include "index/tier/tier_service.h"
#include "index/updates/change_state.h"
#include "index/updates/change_write.h"
#include "index/updates/document_change.h"
#include "neptune/base/file.h"
#include "neptune/replication/client/replica_session.h"
#include "neptune/service/client_stream.h"
#include "neptune/thread/synchronization.h"

namespace search::index {

using neptune::AccessMode;
using neptune::Data;
using neptune::MethodName;
using neptune::PartitionId;
using neptune::ServiceName;
using neptune::Status;
using neptune::StatusOr;

namespace {

constexpr size_t kFileSizeMax = size_t{kStatisticsPiecesMax} * kStatisticsPieceSizeMax;

}  // namespace

std::vector<TierPartition> AllPartitions(uint32_t tier1_count, uint32_t tier2_count) {
  std::vector<TierPartition> all;
  for (uint32_t p = 0; p < tier2_count; ++p) {
    all.push_back({ServiceName(kTier2Service), PartitionId(p)});
  }
  for (uint32_t p = 0; p < tier1_count; ++p) {
    all.push_back({ServiceName(kTier1Service), PartitionId(p)});
  }
  return all;
}

void RunOnLoop(neptune::Loop& loop, const std::function<void()>& work) {
  neptune::OneShotEvent done;
  loop.Post([&] {
    work();
    done.Set();
  });
  while (!done.is_set()) neptune::this_thread::ParkUntilWoken();
}

template <typename Work>
Status RenewalAttempt::InBackground(Work work) {
  Status status;
  RunOnLoop(background_, [&] { status = work(); });
  return status;
}

StatusOr<std::vector<PartitionStatistics>> RenewalAttempt::AskStates() {
  std::vector<PartitionStatistics> states;
  for (const auto& [service, partition] : partitions_) {
    Data response;
    NEPTUNE_RETURN_IF_ERROR(neptune::Call(
        session_, {service, partition, MethodName(kStatisticsStateMethod), AccessMode::kRead},
        Data::Of(StatisticsQuery()), &response));
    NEPTUNE_ASSIGN_OR_RETURN(const auto* const state, response.As<StatisticsState>());
    states.push_back({.index_version = state->index_version(),
                      .version = state->version(),
                      .counted_changes = state->counted_changes(),
                      .change_count = state->change_count(),
                      .document_count = state->document_count()});
  }
  return states;
}

Status RenewalAttempt::Renew(uint64_t version) {
  for (const TierPartition& partition : partitions_) {
    NEPTUNE_RETURN_IF_ERROR(Collect(partition));
  }
  NEPTUNE_RETURN_IF_ERROR(InBackground([this] { return AddUp(); }));
  NEPTUNE_RETURN_IF_ERROR(AskUnknown());
  NEPTUNE_RETURN_IF_ERROR(InBackground([&] { return WriteChanges(version); }));
  return Publish();
}

// Only collects bytes, because this loop serves other work too.
Status RenewalAttempt::Collect(const TierPartition& partition) {
  NEPTUNE_ASSIGN_OR_RETURN(
      const auto stream, OpenStream(session_, partition.service, partition.partition,
                                    MethodName(kChangedTermsMethod), Data::Of(StatisticsQuery())));
  while (true) {
    NEPTUNE_ASSIGN_OR_RETURN(std::optional<Data> page, stream->Read());
    if (!page.has_value()) return stream->Finish();
    pages_.push_back(std::move(*page).ReleaseBytes());
    page_bytes_ += pages_.back().size();
    if (page_bytes_ > kCollectedSizeMax) {
      return neptune::ResourceExhausted("changed terms of more than ", kCollectedSizeMax, " bytes");
    }
  }
}

Status RenewalAttempt::AddUp() {
  for (std::string& bytes : pages_) {
    NEPTUNE_ASSIGN_OR_RETURN(const CountedPartition counted, ReadPage(bytes));
    if (index_version_ == 0) index_version_ = counted.index_version;
    if (counted.index_version != index_version_) {
      return neptune::FailedPrecondition("partitions have different base indexes, ", index_version_,
                                         " and ", counted.index_version);
    }
    change_count_ += counted.change_count;
    NEPTUNE_RETURN_IF_ERROR(sum_.Add(counted.changed));
    bytes = {};
  }
  return neptune::OkStatus();
}

Status RenewalAttempt::AskUnknown() {
  std::vector<std::string> unknown;
  RunOnLoop(background_, [&] { unknown = sum_.UnknownTerms(); });
  for (size_t begin = 0; begin < unknown.size(); begin += kPageTermsMax) {
    const size_t end = std::min(unknown.size(), begin + kPageTermsMax);
    FrequencyQuery query;
    for (size_t i = begin; i < end; ++i) query.add_keys(unknown[i]);
    const Data request = Data::Of(std::move(query));
    for (const auto& [service, partition] : partitions_) {
      Data response;
      NEPTUNE_RETURN_IF_ERROR(neptune::Call(
          session_,
          {service, partition, MethodName(kPublishedFrequenciesMethod), AccessMode::kRead}, request,
          &response));
      NEPTUNE_ASSIGN_OR_RETURN(const auto* const answer, response.As<FrequencyAnswer>());
      if (answer->published_frequencies_size() != static_cast<int>(end - begin)) {
        return neptune::Internal("frequencies of ", answer->published_frequencies_size(),
                                 " terms, asked for ", end - begin);
      }
      for (size_t i = begin; i < end; ++i) {
        sum_.LearnPublishedFrequency(unknown[i],
                                     answer->published_frequencies(static_cast<int>(i - begin)));
      }
    }
  }
  return neptune::OkStatus();
}

Status RenewalAttempt::WriteChanges(uint64_t version) {
  NEPTUNE_RETURN_IF_ERROR(WriteTerms(sum_.Numbers(), path_));
  auto file = neptune::ReadFile(path_, kFileSizeMax);
  std::error_code ignored;  // the next attempt overwrites it
  std::filesystem::remove(path_, ignored);
  NEPTUNE_RETURN_IF_ERROR(file.status());
  StatisticsPiece head;
  head.set_version(version);
  head.set_index_version(index_version_);
  head.set_change_count(change_count_);
  changes_ = StatisticsChanges(head, *file);
  return neptune::OkStatus();
}

Status RenewalAttempt::Publish() {
  neptune::ReplicaSession session(session_);
  const auto write = [&](const TierPartition& to, const PartitionChange& change) {
    Data response;
    return session.Call({to.service, to.partition, MethodName(kChangeMethod), AccessMode::kWrite},
                        Data(change.SerializeAsString()), &response);
  };
  for (const TierPartition& partition : partitions_) {
    for (size_t i = 0; i + 1 < changes_.size(); ++i) {
      NEPTUNE_RETURN_IF_ERROR(write(partition, changes_[i]));
    }
  }
  for (const TierPartition& partition : partitions_) {
    NEPTUNE_RETURN_IF_ERROR(write(partition, changes_.back()));
  }
  return neptune::OkStatus();
}

}  // namespace search::index

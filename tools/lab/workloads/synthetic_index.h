// An index of synthetic documents, and queries on it of known cost.
//
//   documents of words w1 w2 ...   word frequency is about proportional to 1 / number
//   usual queries                  two words, like those of people
//   demanding queries              a dozen phrases of the most common words, combined by OR
//   pathological queries           hundreds of such phrases
//
// Writes files below a temporary folder, which is removed with the object.
// Threads: building uses kernel threads; a built index is immutable.
// Errors: those of the builders.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "index/tier/index_tier.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace search::lab {

inline constexpr uint32_t kMadePartitionCount = 4;

// The text of document `doc_id`.
std::string MadeBody(uint64_t doc_id);

std::vector<std::string> UsualQuestions();
// Distinct queries. Larger `size_max`: more expensive queries.
std::vector<std::string> DemandingQuestions(size_t count = 32, size_t size_max = 200);
std::vector<std::string> PathologicalQuestions();

// The query that a frontend sends to a tier.
neptune::StatusOr<index::TierQuery> TierQueryOf(const std::string& question);

// The partitions of the index at `folder`.
using MadeTiers = std::vector<std::unique_ptr<index::IndexTier>>;
neptune::StatusOr<MadeTiers> OpenMadeTiers(const std::string& folder);

class SyntheticIndex {
 public:
  // Writes FOLDER/tier1/P and FOLDER/docs/P, for P below kMadePartitionCount, and the manifest that
  // tools/publish reads. The version of the index is its number of documents.
  static neptune::StatusOr<std::unique_ptr<SyntheticIndex>> Build(size_t document_count);
  // Built by the first call and kept until the program ends. One caller at a time.
  static neptune::StatusOr<const SyntheticIndex*> Shared(size_t document_count);
  ~SyntheticIndex();
  SyntheticIndex(const SyntheticIndex&) = delete;
  SyntheticIndex& operator=(const SyntheticIndex&) = delete;

  // Adds the same index for another implementation of the tier: FOLDER/tier1.IMPLEMENTATION/P.
  neptune::Status AddTier(const std::string& implementation);

  const std::string& folder() const { return folder_; }
  uint64_t index_version() const { return document_count_; }
  // The median processor time of a few such queries, in all partitions together.
  neptune::Duration usual_cost() const { return usual_cost_; }
  neptune::Duration demanding_cost() const { return demanding_cost_; }
  neptune::Duration pathological_cost() const { return pathological_cost_; }
  // The same for other queries.
  neptune::StatusOr<neptune::Duration> CostOf(const std::vector<std::string>& questions) const;

 private:
  SyntheticIndex(std::string folder, size_t document_count)
      : folder_(std::move(folder)), document_count_(document_count) {}
  neptune::Status BuildTier(const std::string& name, const std::string& implementation) const;
  neptune::Status BuildStores() const;
  neptune::Status WriteManifest() const;
  neptune::Status MeasureCosts();

  const std::string folder_;
  const size_t document_count_;
  std::vector<std::string> other_tiers_;  // implementations
  neptune::Duration usual_cost_{};
  neptune::Duration demanding_cost_{};
  neptune::Duration pathological_cost_{};
};

}  // namespace search::lab

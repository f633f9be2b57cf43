// What every query cache must do, as tests. A variant in the registry is tested without a word
// more; one outside of it instantiates the suite:
//
//   INSTANTIATE_TEST_SUITE_P(Mine, ResultCacheConformance, testing::Values(kMyVariant),
//   VariantName);
//
// Test only. A cache may forget; it may never give a wrong value.

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>

#include "cache/registry.h"
#include "cache/result_cache.h"

namespace search::cache {

class ResultCacheConformance : public testing::TestWithParam<ResultCacheVariant> {
 protected:
  std::unique_ptr<ResultCache> Make(const ResultCacheOptions& options = {}) const;
};

std::string VariantName(const testing::TestParamInfo<ResultCacheVariant>& info);
// What GoogleTest shows of a variant.
void PrintTo(const ResultCacheVariant& variant, std::ostream* out);

}  // namespace search::cache

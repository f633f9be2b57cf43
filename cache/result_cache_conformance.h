// Conformance tests for query caches. Variants in the registry are tested automatically; others
// instantiate the suite:
//
//   INSTANTIATE_TEST_SUITE_P(Mine, ResultCacheConformance, testing::Values(kMyVariant),
//                            VariantName);
//
// Test only. A cache may drop entries at any time; it must never return a wrong value.

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
// Prints a variant for GoogleTest.
void PrintTo(const ResultCacheVariant& variant, std::ostream* out);

}  // namespace search::cache

#include "tools/lab/search/node_status.h"

#include <gtest/gtest.h>

namespace search::lab {
namespace {

TEST(NodeStatusTest, ANodeThatSaysNoAddressIsNotAsked) {
  EXPECT_EQ(ReadNodeStatus("pid 1\n", "replicas").status().code(),
            neptune::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace search::lab

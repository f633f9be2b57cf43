// The real world passes the suite that every world passes.

#include <memory>

#include "neptune/world/real/real_world.h"
#include "neptune/world/world_conformance.h"

namespace neptune {
namespace {

INSTANTIATE_TEST_SUITE_P(Real, WorldConformanceTest,
                         testing::Values(WorldVariant{"real", [] {
                                                        return std::make_unique<ThreadedHarness>(
                                                            MakeRealWorld({}));
                                                      }}));

}  // namespace
}  // namespace neptune

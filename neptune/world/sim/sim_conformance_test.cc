// Runs the World conformance suite on the simulated world.

#include <memory>
#include <utility>

#include "neptune/world/sim/simulator.h"
#include "neptune/world/world_conformance.h"

namespace neptune {
namespace {

class SimHarness : public WorldHarness {
 public:
  explicit SimHarness(uint64_t seed)
      : simulator_(seed), world_(simulator_.AddHost({.name = "a"})) {}

  World& world() override { return world_; }

  void Run(Loop& loop, std::function<void()> work) override {
    bool ran = false;
    loop.Post([&] {
      work();
      ran = true;
    });
    ASSERT_TRUE(simulator_.RunUntilTrue([&] { return ran; }, kNever));
  }

  bool RunUntil(Loop&, std::function<bool()> done, Duration limit) override {
    return simulator_.RunUntilTrue(done, simulator_.now() + limit);
  }

 private:
  Simulator simulator_;
  SimWorld& world_;
};

INSTANTIATE_TEST_SUITE_P(Sim, WorldConformanceTest,
                         testing::Values(WorldVariant{
                             "sim", [] { return std::make_unique<SimHarness>(1); }}));

}  // namespace
}  // namespace neptune

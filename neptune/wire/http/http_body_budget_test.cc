#include "neptune/wire/http/http_body_budget.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

constexpr size_t kMiB = 1 << 20;

class HttpBodyBudgetTest : public testing::Test {
 protected:
  std::unique_ptr<HttpBodyCharge> Begin(uint32_t address, std::string name) {
    return std::make_unique<HttpBodyCharge>(budget_, address,
                                            [this, name = std::move(name)] { refused_ += name; });
  }

  Gauge gauge_;
  const std::shared_ptr<HttpBodyBudget> budget_ =
      std::make_shared<HttpBodyBudget>(10 * kMiB, &gauge_);
  std::string refused_;
};

TEST_F(HttpBodyBudgetTest, ChargesGrowInStepsAndEndWithTheirBody) {
  auto body = Begin(1, "a");
  EXPECT_TRUE(body->Cover(HttpBodyBudget::kFreeSize));
  EXPECT_EQ(budget_->used(), 0u);
  EXPECT_TRUE(body->Cover(HttpBodyBudget::kFreeSize + 1));
  EXPECT_EQ(budget_->used(), HttpBodyBudget::kStep);
  EXPECT_TRUE(body->Cover(3 * kMiB));
  EXPECT_EQ(budget_->used(), 3 * kMiB);
  EXPECT_EQ(gauge_.value(), 3.0 * kMiB);
  EXPECT_TRUE(body->Finish());
  EXPECT_EQ(budget_->used(), 3 * kMiB) << "its handler has it";
  body.reset();
  EXPECT_EQ(budget_->used(), 0u);
  EXPECT_EQ(gauge_.value(), 0);
}

TEST_F(HttpBodyBudgetTest, TheAddressThatHoldsMostIsRefusedItself) {
  const auto first = Begin(1, "a");
  const auto second = Begin(1, "b");
  EXPECT_TRUE(first->Cover(8 * kMiB));
  EXPECT_TRUE(second->Cover(2 * kMiB));
  EXPECT_FALSE(second->Cover(3 * kMiB));
  EXPECT_FALSE(Begin(1, "c")->Cover(kMiB));
  EXPECT_EQ(refused_, "");
  EXPECT_EQ(budget_->used(), 10 * kMiB);
}

TEST_F(HttpBodyBudgetTest, TheNewestBodyOfTheGreediestAddressGoesForOthers) {
  const auto old = Begin(1, "old");
  const auto recent = Begin(1, "new");
  const auto other = Begin(2, "other");
  EXPECT_TRUE(old->Cover(3 * kMiB));
  EXPECT_TRUE(recent->Cover(4 * kMiB));
  EXPECT_TRUE(other->Cover(3 * kMiB));
  const auto honest = Begin(3, "honest");
  EXPECT_TRUE(honest->Cover(kMiB));
  EXPECT_EQ(refused_, "new");
  EXPECT_EQ(budget_->used(), 7 * kMiB);
  EXPECT_FALSE(recent->Cover(5 * kMiB)) << "it is refused for good";
  EXPECT_FALSE(recent->Finish());
  EXPECT_TRUE(recent->IsRefused());
  EXPECT_FALSE(old->IsRefused());
  EXPECT_TRUE(old->Finish());
  EXPECT_EQ(budget_->refused_for_others_count(), 1u);
}

TEST_F(HttpBodyBudgetTest, BodiesThatAreHandledAreNotRefused) {
  const auto handled = Begin(1, "handled");
  EXPECT_TRUE(handled->Cover(9 * kMiB));
  EXPECT_TRUE(handled->Finish());
  const auto other = Begin(2, "other");
  EXPECT_TRUE(other->Cover(kMiB));
  EXPECT_FALSE(Begin(3, "third")->Cover(2 * kMiB)) << "it would hold more than the second";
  EXPECT_EQ(refused_, "");
}

TEST_F(HttpBodyBudgetTest, ABodyLargerThanAllIsRefusedAlone) {
  const auto other = Begin(2, "other");
  EXPECT_TRUE(other->Cover(9 * kMiB));
  EXPECT_FALSE(Begin(1, "huge")->Cover(11 * kMiB));
  EXPECT_EQ(refused_, "");
}

// Random bodies of random addresses: the sum is that of the charges and never above the limit, and
// an address that holds less than its part of the budget is never refused.
TEST_F(HttpBodyBudgetTest, RandomBodiesStayWithinTheBudget) {
  constexpr uint64_t kSeed = 20240607;
  constexpr uint32_t kAddressCount = 5;
  SCOPED_TRACE(StrCat("seed ", kSeed));
  std::mt19937_64 random(kSeed);
  struct Body {
    std::unique_ptr<HttpBodyCharge> charge;
    uint32_t address = 0;
    size_t size = 0;  // rounded as the budget does
    std::shared_ptr<bool> refused;
  };
  std::vector<Body> bodies;
  const auto held_by = [&](std::optional<uint32_t> address) {
    size_t sum = 0;
    for (const Body& body : bodies) {
      if (!*body.refused && (!address || body.address == *address)) sum += body.size;
    }
    return sum;
  };
  for (int step = 0; step < 20'000; ++step) {
    const uint64_t choice = random() % 10;
    if (bodies.empty() || choice == 0) {
      Body body;
      body.address = static_cast<uint32_t>(random() % kAddressCount);
      body.refused = std::make_shared<bool>(false);
      body.charge = std::make_unique<HttpBodyCharge>(budget_, body.address,
                                                     [refused = body.refused] { *refused = true; });
      bodies.push_back(std::move(body));
      continue;
    }
    const size_t i = random() % bodies.size();
    Body& body = bodies[i];
    if (choice <= 2) {
      bodies.erase(bodies.begin() + static_cast<ptrdiff_t>(i));
    } else {
      const size_t wanted = body.size + (1 + random() % 32) * HttpBodyBudget::kStep;
      const size_t own = held_by(body.address) + wanted - body.size;
      const bool was_refused = *body.refused;
      if (body.charge->Cover(wanted)) {
        EXPECT_FALSE(was_refused);
        body.size = wanted;
      } else if (!was_refused) {
        EXPECT_GT(own * kAddressCount, 10 * kMiB) << "an address that holds little was refused";
        bodies.erase(bodies.begin() + static_cast<ptrdiff_t>(i));
      }
    }
    ASSERT_EQ(budget_->used(), held_by(std::nullopt)) << step;
    ASSERT_LE(budget_->used(), budget_->size_max()) << step;
  }
  bodies.clear();
  EXPECT_EQ(budget_->used(), 0u);
}

}  // namespace
}  // namespace neptune

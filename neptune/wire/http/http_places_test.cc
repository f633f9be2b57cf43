#include "neptune/wire/http/http_places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;

constexpr uint32_t kAlice = 0x0a000001;
constexpr uint32_t kBob = 0x0a000002;
constexpr uint32_t kProxy = 0x7f000001;  // the loopback address
constexpr Duration kGrace = milliseconds(1000);

TimePoint At(int milli) { return TimePoint() + milliseconds(100'000 + milli); }

class HttpPlacesTest : public testing::Test {
 protected:
  uint64_t Add(uint32_t address, int milli) {
    places_owned_.push_back(std::make_unique<HttpPlaces::Place>());
    const uint64_t id = places_owned_.size() - 1;
    places_.Add(places_owned_.back().get(), id, address, At(milli));
    return id;
  }
  void Note(uint64_t id, HttpStanding standing, int milli, bool progressed = false) {
    places_.Note(places_owned_[id].get(), standing, progressed, At(milli));
  }
  void Remove(uint64_t id) { places_.Remove(places_owned_[id].get()); }

  HttpPlaces places_{{.count_max = 3, .per_address_max = 2, .grace = kGrace}};
  std::vector<std::unique_ptr<HttpPlaces::Place>> places_owned_;
};

TEST_F(HttpPlacesTest, TheLongestIdleOneGivesWay) {
  for (int i = 0; i < 3; ++i) Note(Add(kAlice, i), HttpStanding::kWorking, i);
  EXPECT_EQ(places_.ChooseToGiveWay(At(5000)), std::nullopt);
  Note(1, HttpStanding::kIdle, 10);
  Note(0, HttpStanding::kIdle, 20);
  EXPECT_EQ(places_.ChooseToGiveWay(At(20)), 1u);
  Note(1, HttpStanding::kIdle, 30);
  EXPECT_EQ(places_.ChooseToGiveWay(At(30)), 1u) << "nothing has happened";
  Note(1, HttpStanding::kIdle, 30, /*progressed=*/true);
  EXPECT_EQ(places_.ChooseToGiveWay(At(30)), 0u);
}

TEST_F(HttpPlacesTest, AFreshOneHasItsGrace) {
  const uint64_t idle = Add(kAlice, 0);
  Note(idle, HttpStanding::kIdle, 1);
  const uint64_t fresh = Add(kAlice, 2);
  EXPECT_EQ(places_.ChooseToGiveWay(At(1002)), idle);
  EXPECT_EQ(places_.ChooseToGiveWay(At(1003)), fresh);
  Remove(idle);
  EXPECT_EQ(places_.ChooseToGiveWay(At(2)), fresh) << "there is no other";
}

TEST_F(HttpPlacesTest, SlowClientsGiveWayAfterTheGraceAndAfterIdleOnes) {
  const uint64_t writer = Add(kAlice, 0);
  const uint64_t reader = Add(kAlice, 0);
  Note(writer, HttpStanding::kReceiving, 0);
  Note(reader, HttpStanding::kSending, 0);
  EXPECT_EQ(places_.ChooseToGiveWay(At(1000)), std::nullopt);
  EXPECT_EQ(places_.ChooseToGiveWay(At(1001)), writer);
  EXPECT_EQ(places_.ChooseSlowest(At(1001)), reader);
  Note(reader, HttpStanding::kSending, 500, /*progressed=*/true);
  EXPECT_EQ(places_.ChooseSlowest(At(1001)), writer);
  Note(writer, HttpStanding::kWorking, 1001);
  EXPECT_EQ(places_.ChooseToGiveWay(At(1400)), std::nullopt);
  EXPECT_EQ(places_.ChooseToGiveWay(At(1501)), reader);
}

TEST_F(HttpPlacesTest, AnAddressHasALimitUnlessItIsTheLoopback) {
  for (const uint32_t address : {kAlice, kAlice, kBob, kProxy, kProxy}) Add(address, 0);
  EXPECT_TRUE(places_.AtAddressLimit(kAlice));
  EXPECT_FALSE(places_.AtAddressLimit(kAlice, 1));
  EXPECT_FALSE(places_.AtAddressLimit(kBob));
  EXPECT_FALSE(places_.AtAddressLimit(kProxy));
  EXPECT_TRUE(places_.AtLimit(2));
  EXPECT_FALSE(places_.AtLimit(3));
  EXPECT_EQ(places_.ChooseOfAddress(kAlice), 0u);
  Note(0, HttpStanding::kWorking, 1);
  EXPECT_EQ(places_.ChooseOfAddress(kAlice), 1u);
  Note(0, HttpStanding::kIdle, 2);
  Remove(1);
  EXPECT_EQ(places_.ChooseOfAddress(kAlice), 0u);
  Remove(0);
  EXPECT_EQ(places_.ChooseOfAddress(kAlice), std::nullopt);
}

TEST_F(HttpPlacesTest, KnowsWhoIsIdleForTooLong) {
  EXPECT_EQ(places_.OldestIdle(), kNever);
  Note(Add(kAlice, 0), HttpStanding::kIdle, 10);
  Add(kBob, 5);
  EXPECT_EQ(places_.OldestIdle(), At(5));
  EXPECT_EQ(places_.ChooseIdleSince(At(4)), std::nullopt);
  EXPECT_EQ(places_.ChooseIdleSince(At(5)), 1u);
  Remove(1);
  EXPECT_EQ(places_.ChooseIdleSince(At(9)), std::nullopt);
  EXPECT_EQ(places_.ChooseIdleSince(At(10)), 0u);
}

// Against a list that is searched as a whole.
TEST_F(HttpPlacesTest, RandomHistoriesChooseAsASearchWould) {
  constexpr uint32_t kSeed = 26;
  SCOPED_TRACE(StrCat("seed ", kSeed));
  std::mt19937 random(kSeed);
  struct Model {
    uint64_t id;
    HttpStanding standing;
    int since;
  };
  std::vector<Model> model;
  const auto longest = [&](HttpStanding standing, int before) {
    std::optional<std::pair<int, uint64_t>> best;
    for (const Model& one : model) {
      const std::pair<int, uint64_t> key(one.since, one.id);
      if (one.standing == standing && one.since < before && (!best || key < *best)) best = key;
    }
    return best ? std::optional(best->second) : std::nullopt;
  };
  for (int now = 0; now < 20'000; ++now) {
    if (model.empty() || random() % 8 == 0) {
      model.push_back({Add(random() % 2 == 0 ? kAlice : kBob, now), HttpStanding::kFresh, now});
    } else {
      const size_t index = random() % model.size();
      if (random() % 9 == 0) {
        Remove(model[index].id);
        model.erase(model.begin() + static_cast<ptrdiff_t>(index));
      } else {
        const auto standing = static_cast<HttpStanding>(random() % kHttpStandingCount);
        const bool progressed = random() % 2 == 0;
        Note(model[index].id, standing, now, progressed);
        if (progressed || standing != model[index].standing) model[index].since = now;
        model[index].standing = standing;
      }
    }
    const int patience = now - static_cast<int>(kGrace / milliseconds(1));
    std::optional<uint64_t> expected = longest(HttpStanding::kFresh, patience);
    if (!expected) expected = longest(HttpStanding::kIdle, now + 1);
    if (!expected) expected = longest(HttpStanding::kFresh, now + 1);
    if (!expected) expected = longest(HttpStanding::kReceiving, patience);
    if (!expected) expected = longest(HttpStanding::kSending, patience);
    ASSERT_EQ(places_.ChooseToGiveWay(At(now)), expected) << "at " << now;
    ASSERT_EQ(places_.count(), model.size());
  }
}

}  // namespace
}  // namespace neptune

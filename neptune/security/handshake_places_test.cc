#include "neptune/security/handshake_places.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

constexpr uint32_t kAttacker = 0x0a000001;
constexpr uint32_t kUser = 0x0a000002;
constexpr uint32_t kOther = 0x0a000003;

TEST(HandshakePlacesTest, ThereIsRoomBelowTheLimits) {
  HandshakePlaces places({.count_max = 2, .per_address_max = 2});
  EXPECT_EQ(places.ChooseFor(kUser), std::nullopt);
  places.Add(1, kUser);
  EXPECT_EQ(places.ChooseFor(kUser), std::nullopt);
  places.Remove(1, kUser);
  places.Remove(1, kUser);
  EXPECT_EQ(places.count(), 0u);
}

TEST(HandshakePlacesTest, AnAddressAtItsLimitLosesItsOldest) {
  HandshakePlaces places({.count_max = 10, .per_address_max = 2});
  places.Add(1, kUser);
  places.Add(2, kAttacker);
  places.Add(3, kAttacker);
  EXPECT_EQ(places.ChooseFor(kAttacker), 2u);
  EXPECT_EQ(places.ChooseFor(kUser), std::nullopt);
}

TEST(HandshakePlacesTest, LoopbackHasNoLimitOfItsOwn) {
  HandshakePlaces places({.count_max = 10, .per_address_max = 2});
  for (uint64_t id = 1; id <= 9; ++id) places.Add(id, kLoopbackAddress);
  EXPECT_EQ(places.ChooseFor(kLoopbackAddress), std::nullopt);
  places.Add(10, kLoopbackAddress);
  EXPECT_EQ(places.ChooseFor(kLoopbackAddress), 1u);
}

TEST(HandshakePlacesTest, TheNewestOfTheGreediestAddressGoesForOthers) {
  HandshakePlaces places({.count_max = 4, .per_address_max = 4});
  places.Add(1, kUser);
  for (uint64_t id = 2; id <= 4; ++id) places.Add(id, kAttacker);
  EXPECT_EQ(places.ChooseFor(kOther), 4u);
  EXPECT_EQ(places.ChooseFor(kUser), 4u);
  EXPECT_EQ(places.ChooseFor(kAttacker), 2u) << "its own oldest, so that it gets through at all";
}

TEST(HandshakePlacesTest, AmongEqualsTheOldestGoes) {
  HandshakePlaces places({.count_max = 2, .per_address_max = 2});
  places.Add(1, kUser);
  places.Add(2, kAttacker);
  EXPECT_EQ(places.ChooseFor(kOther), 1u);
  EXPECT_EQ(places.ChooseFor(kAttacker), 2u);
}

// One that connects as often as it can never takes the place of another address.
TEST(HandshakePlacesTest, AFloodDisplacesItself) {
  const HandshakePlaces::Limits limits = HandshakePlaces::ForAll(1024);
  HandshakePlaces places(limits);
  std::map<uint64_t, uint32_t> under_way;
  uint64_t next = 1;
  const auto connect = [&](uint32_t address) {
    while (const auto id = places.ChooseFor(address)) {
      EXPECT_EQ(under_way.at(*id), kAttacker);
      places.Remove(*id, under_way.at(*id));
      under_way.erase(*id);
    }
    places.Add(next, address);
    under_way.emplace(next++, address);
  };
  for (uint32_t user = 0; user < 900; ++user) connect(kUser + user);
  for (int i = 0; i < 5000; ++i) connect(kAttacker);
  EXPECT_EQ(places.count(), 1024u);
  for (uint32_t user = 900; user < 1000; ++user) connect(kUser + user);
  EXPECT_EQ(places.count(), 1024u);
}

}  // namespace
}  // namespace neptune

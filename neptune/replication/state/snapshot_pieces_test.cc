#include "neptune/replication/state/snapshot_pieces.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "neptune/world/random_source.h"

namespace neptune {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::vector<std::string> Write(const Pairs& pairs, size_t piece_size_max, Lsn completed) {
  std::vector<std::string> pieces;
  SnapshotWriter writer;
  for (const auto& [key, value] : pairs) {
    writer.Add(key, value);
    while (writer.size() > piece_size_max) pieces.push_back(writer.TakePiece(piece_size_max));
  }
  writer.End(completed);
  while (writer.size() > 0) pieces.push_back(writer.TakePiece(piece_size_max));
  return pieces;
}

StatusOr<Pairs> Read(const std::vector<std::string>& pieces, Lsn completed) {
  SnapshotReader reader;
  Pairs pairs;
  for (const std::string& piece : pieces) {
    NEPTUNE_RETURN_IF_ERROR(reader.Take(piece, [&](std::string_view key, std::string_view value) {
      pairs.emplace_back(key, value);
    }));
  }
  if (!reader.has_ended()) return DataLoss("the end is missing");
  EXPECT_EQ(reader.completed(), completed);
  return pairs;
}

Pairs RandomPairs(RandomSource& random, uint64_t count_max, uint64_t value_size_max) {
  Pairs pairs;
  for (uint64_t i = random.Below(count_max + 1); i > 0; --i) {
    pairs.emplace_back(std::string(random.Below(40), static_cast<char>(random.Next())),
                       std::string(random.Below(value_size_max), static_cast<char>(random.Next())));
  }
  return pairs;
}

TEST(SnapshotPiecesTest, PairsArriveHoweverTheyAreCut) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    RandomSource random(seed);
    const Pairs pairs = RandomPairs(random, 20, 500);
    const size_t piece_size_max = random.Below(400);
    const std::vector<std::string> pieces = Write(pairs, piece_size_max, seed);
    for (const std::string& piece : pieces) {
      ASSERT_LE(piece.size(), std::max(piece_size_max, kSnapshotPieceSizeMin));
    }
    const StatusOr<Pairs> read = Read(pieces, seed);
    ASSERT_TRUE(read.ok()) << "seed " << seed << ": " << read.status();
    ASSERT_EQ(*read, pairs);
  }
}

TEST(SnapshotPiecesTest, LargeValueIsCutIntoPiecesOfAnySize) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    RandomSource random(seed);
    const Pairs pairs = {{"a", "1"}, {"large", std::string(50'000, 'x')}, {"z", ""}};
    SnapshotWriter writer;
    for (const auto& [key, value] : pairs) writer.Add(key, value);
    writer.End(9);
    std::vector<std::string> pieces;
    while (writer.size() > 0) pieces.push_back(writer.TakePiece(random.Below(5'000)));
    EXPECT_EQ(Read(pieces, 9).value(), pairs) << "seed " << seed;
  }
}

TEST(SnapshotPiecesTest, DamagedMissingRepeatedAndExchangedPiecesAreRefused) {
  Pairs pairs;
  for (int i = 0; i < 12; ++i) pairs.emplace_back(StrCat("key", i), std::string(20 * i, 'v'));
  const std::vector<std::string> pieces = Write(pairs, 100, 9);
  ASSERT_GT(pieces.size(), 5u);
  for (size_t i = 0; i < pieces.size(); ++i) {
    std::vector<std::string> missing = pieces, repeated = pieces, cut = pieces;
    missing.erase(missing.begin() + static_cast<ptrdiff_t>(i));
    repeated.insert(repeated.begin() + static_cast<ptrdiff_t>(i), pieces[i]);
    cut[i].pop_back();
    for (const auto& bad : {missing, repeated, cut}) EXPECT_FALSE(Read(bad, 9).ok()) << i;
    if (i > 0) {
      std::vector<std::string> exchanged = pieces;
      std::swap(exchanged[i], exchanged[i - 1]);
      EXPECT_FALSE(Read(exchanged, 9).ok()) << i;
    }
    for (size_t bit = 0; bit < 8 * pieces[i].size(); ++bit) {
      std::vector<std::string> flipped = pieces;
      flipped[i][bit / 8] = static_cast<char>(flipped[i][bit / 8] ^ (1 << (bit % 8)));
      ASSERT_FALSE(Read(flipped, 9).ok()) << i << " " << bit;
    }
  }
}

TEST(SnapshotPiecesTest, PieceAfterTheEndIsRefused) {
  const std::vector<std::string> pieces = Write({}, 100, 1);
  SnapshotReader reader;
  const auto ignore = [](auto, auto) {};
  ASSERT_TRUE(reader.Take(pieces[0], ignore).ok());
  EXPECT_FALSE(reader.Take(pieces[0], ignore).ok());
}

}  // namespace
}  // namespace neptune

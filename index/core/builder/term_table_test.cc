#include "index/core/builder/term_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "index/core/builder/occurrence_code.h"
#include "index/core/builder/term_run.h"

namespace search::index {
namespace {

// Positions by field, for each document that holds the term.
using Occurrences = std::map<uint32_t, std::array<std::vector<uint32_t>, kFieldCount>>;

struct Filled {
  TermTable table;
  std::map<std::string, Occurrences> expected;
};

void Fill(uint64_t seed, uint32_t document_count, Filled* filled) {
  std::mt19937_64 rng(seed);
  for (uint32_t ordinal = 0; ordinal < document_count; ++ordinal) {
    for (size_t f = 0; f < kFieldCount; ++f) {
      for (uint32_t position = 0; position < 60; position += rng() % 3) {
        const std::string key = "t" + std::to_string(rng() % (1 + rng() % 500));
        filled->table.Add(key, ordinal, static_cast<Field>(f), position);
        filled->expected[key][ordinal][f].push_back(position);
      }
    }
    filled->table.AddWithoutPosition("\x01site", ordinal);
    filled->expected["\x01site"][ordinal];
  }
}

Occurrences Decode(const std::string& bytes) {
  Occurrences occurrences;
  OccurrenceReader reader(bytes);
  RawPosting posting;
  while (reader.Next(&posting)) {
    auto& fields = occurrences[posting.ordinal];
    size_t gap = 0;
    for (size_t f = 0; f < kFieldCount; ++f) {
      uint32_t position = 0;
      for (uint32_t i = 0; i < posting.frequencies[f]; ++i) {
        position += posting.position_gaps[gap++];
        fields[f].push_back(position);
      }
    }
    EXPECT_EQ(gap, posting.position_gaps.size());
  }
  EXPECT_FALSE(reader.damaged());
  return occurrences;
}

void ExpectRun(TermRun* run, const std::map<std::string, Occurrences>& expected) {
  std::string bytes;
  for (const auto& [key, occurrences] : expected) {
    ASSERT_TRUE(*run->Next());
    ASSERT_EQ(run->key(), key);
    ASSERT_TRUE(run->ReadOccurrences(&bytes).ok());
    ASSERT_EQ(Decode(bytes), occurrences) << key;
  }
  EXPECT_FALSE(*run->Next());
}

TEST(TermTableTest, GivesBackEveryOccurrenceInOrder) {
  Filled filled;
  Fill(1, 2000, &filled);
  ExpectRun(ReadTable(filled.table).get(), filled.expected);
}

TEST(TermTableTest, RunInAFileIsTheSame) {
  Filled filled;
  Fill(2, 300, &filled);
  const std::string path = testing::TempDir() + "/term_table_test.run";
  ASSERT_TRUE(WriteRun(filled.table, path).ok());
  auto run = OpenRun(path);
  ASSERT_TRUE(run.ok()) << run.status();
  ExpectRun(run->get(), filled.expected);
}

TEST(TermTableTest, ClearedTableStartsAfresh) {
  Filled filled;
  Fill(3, 500, &filled);
  const size_t full_size = filled.table.memory_size();
  filled.table.Clear();
  EXPECT_TRUE(filled.table.empty());
  EXPECT_LT(filled.table.memory_size(), full_size / 4);
  filled.expected.clear();
  Fill(4, 100, &filled);
  ExpectRun(ReadTable(filled.table).get(), filled.expected);
}

TEST(OccurrenceReaderTest, CutOffBytesAreDamageOrEnd) {
  Filled filled;
  Fill(5, 20, &filled);
  std::string bytes;
  filled.table.CopyOccurrences(filled.table.SortedSlots()[1], &bytes);
  RawPosting posting;
  for (size_t size = 0; size < bytes.size(); ++size) {
    OccurrenceReader reader(std::string_view(bytes).substr(0, size));
    while (reader.Next(&posting)) continue;
  }
  OccurrenceReader reader("\x09");  // an occurrence that does not begin a document
  EXPECT_FALSE(reader.Next(&posting));
  EXPECT_TRUE(reader.damaged());
}

}  // namespace
}  // namespace search::index

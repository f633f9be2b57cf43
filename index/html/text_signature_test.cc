#include "index/html/text_signature.h"

#include <xxhash.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace search::html {
namespace {

// Sentences of which each differs from the others.
std::string Text(int first, int count) {
  std::string text;
  for (int i = first; i < first + count; ++i) {
    text += "Sentence number " + std::to_string(i) + " says word" + std::to_string(i * 7) +
            " about thing" + std::to_string(i * 13) + ". ";
  }
  return text;
}

// The definition: the signs of the sums over all sequences of words, a bit at a time.
uint64_t SignatureOfWords(const std::vector<std::string>& words) {
  std::array<int64_t, 64> sums = {};
  for (size_t end = kSignatureSequence; end <= words.size(); ++end) {
    std::array<uint64_t, kSignatureSequence> sequence;
    for (size_t i = 0; i < kSignatureSequence; ++i) {
      const std::string& word = words[end - kSignatureSequence + i];
      sequence[i] = XXH3_64bits(word.data(), word.size());
    }
    const uint64_t hash = XXH3_64bits(sequence.data(), sizeof(sequence));
    for (size_t bit = 0; bit < 64; ++bit) sums[bit] += (hash >> bit & 1) != 0 ? 1 : -1;
  }
  uint64_t signature = 0;
  for (size_t bit = 0; bit < 64; ++bit) {
    if (sums[bit] > 0) signature |= uint64_t{1} << bit;
  }
  return signature;
}

TEST(TextSignatureTest, IsTheSignsOfTheSumsOfBits) {
  std::mt19937 random(17);
  // The counts of bits are added up after each 255 sequences.
  for (const size_t count : {40, 256, 257, 258, 400, 512, 2000}) {
    std::vector<std::string> words;
    std::string text;
    for (size_t i = 0; i < count; ++i) {
      words.push_back("w\xC3\xA9" + std::to_string(random() % 300));
      text += (i % 3 == 0 ? "W" : "w") + words.back().substr(1) + (i % 2 == 0 ? ", " : "\n");
    }
    EXPECT_EQ(TextSignature(text), SignatureOfWords(words)) << count;
  }
}

TEST(TextSignatureTest, EqualWordsHaveEqualSignatures) {
  EXPECT_EQ(SignatureDistance(TextSignature(Text(0, 50)), TextSignature(Text(0, 50))), 0);
  EXPECT_EQ(TextSignature("<" + Text(0, 50)), TextSignature(Text(0, 50) + "\n"));
}

TEST(TextSignatureTest, AFewChangedWordsChangeFewBits) {
  std::string changed = Text(0, 200);
  changed.replace(changed.find("number 100 "), 10, "figure 1x0");
  EXPECT_LE(SignatureDistance(TextSignature(Text(0, 200)), TextSignature(changed)), 3);
}

TEST(TextSignatureTest, OtherTextsDifferInManyBits) {
  for (int i = 1; i < 20; ++i) {
    EXPECT_GT(SignatureDistance(TextSignature(Text(0, 50)), TextSignature(Text(i * 50, 50))), 10);
  }
}

TEST(TextSignatureTest, ShortTextsHaveNone) {
  EXPECT_EQ(TextSignature("only a few words"), 0u);
  EXPECT_EQ(TextSignature(""), 0u);
  EXPECT_EQ(TextSignature(std::string(1 << 20, 'x')), 0u);
  EXPECT_EQ(SignatureDistance(0, 0), 64);
}

}  // namespace
}  // namespace search::html

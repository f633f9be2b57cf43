#include "index/html/text_signature.h"

#include <string>

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

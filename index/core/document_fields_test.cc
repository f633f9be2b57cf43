#include "index/core/document_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace search::index {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(DocumentFieldsTest, AddressesHaveWords) {
  EXPECT_THAT(AddressWords("https://docs.Python.org/3/library/re.html#re"),
              ElementsAre("docs", "python", "org", "3", "library", "re", "html"));
  EXPECT_THAT(AddressWords("doc:git-doc/git-add.html"), ElementsAre("git", "doc", "add", "html"));
  EXPECT_THAT(AddressWords("a/__init__/caf\xC3\xA9"), ElementsAre("a", "__init__", "caf\xC3\xA9"));
  EXPECT_THAT(AddressWords("://"), IsEmpty());
  EXPECT_EQ(AddressWords(std::string(300, 'x'))[0].size(), kFieldValueSizeMax);
}

TEST(DocumentFieldsTest, LanguagesAreTags) {
  EXPECT_EQ(FoldedLanguage("en"), "en");
  EXPECT_EQ(FoldedLanguage("pt_BR"), "pt-br");
  EXPECT_EQ(FoldedLanguage("zh-Hant-TW"), "zh-hant-tw");
  EXPECT_EQ(FoldedLanguage("es-419"), "es-419");
  for (const char* text : {"", "e", "c++", "python", "en-", "-en", "e-n", "e1", "en--us",
                           "en-123456789", "\xC3\xA9t"}) {
    EXPECT_EQ(FoldedLanguage(text), "") << text;
  }
}

TEST(DocumentFieldsTest, DatesAreDays) {
  EXPECT_EQ(ParseDate("0001-01-01"), (DayRange{1, 2}));
  EXPECT_EQ(ParseDate("1970-01-01")->first, 719163u);
  EXPECT_EQ(ParseDate("2024-02-29")->end, ParseDate("2024-03-01")->first);
  EXPECT_EQ(ParseDate("2024-02"),
            (DayRange{ParseDate("2024-02-01")->first, ParseDate("2024-03-01")->first}));
  EXPECT_EQ(ParseDate("2024")->end, ParseDate("2025-01-01")->first);
  EXPECT_EQ(ParseDate("9999-12-31")->end, ParseDate("9999")->end);
  for (const char* text : {"", "24", "2024-13", "2024-00", "2023-02-29", "1900-02-29", "2024-3-5",
                           "2024/03/05", "2024-03-", "0000", "2024-03-05T10", "-024", "2024-+3"}) {
    EXPECT_FALSE(ParseDate(text).has_value()) << text;
  }
}

TEST(DocumentFieldsTest, DaysArePrintedAsTheyAreRead) {
  for (uint32_t day = 1; day < 3'652'059; day += 37) {
    const std::string text = FormatDay(day);
    ASSERT_EQ(ParseDate(text)->first, day) << text;
  }
  EXPECT_EQ(FormatDay(ParseDate("2024-12-31")->first), "2024-12-31");
  EXPECT_EQ(FormatDay(ParseDate("0400-12-31")->first), "0400-12-31");
}

TEST(DocumentFieldsTest, DocumentsHaveKeys) {
  const IndexedDocument document = {.url = "doc:a/b", .language = "en-US", .date = "2024-03-05"};
  EXPECT_THAT(FieldKeysOf(document),
              ElementsAre("\2url:a", "\2url:b", "\2lang:en-us", "\2lang:en", "\2date:2024",
                          "\2date:2024-03", "\2date:2024-03-05"));
  EXPECT_THAT(FieldKeysOf({.language = "?", .date = "2024-03"}), IsEmpty());
}

}  // namespace
}  // namespace search::index

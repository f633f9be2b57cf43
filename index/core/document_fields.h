// Declared fields of documents that a query can filter by: words of the address, language and date.
//
// A field value is a key of the term dictionary, `NAME:VALUE` after kFieldKeyPrefix, whose postings
// are the documents with that value (index/core/segment/format.md):
//
//   url:WORD        each word of the address
//   lang:en-us      the language tag, and lang:en, its first part
//   date:2024-03-05 the day, and date:2024-03 and date:2024, the month and the year
//
// Threads: pure functions.
// Limits: kAddressWordsMax words of kFieldValueSizeMax bytes; years 1 to 9999.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/core/document.h"

namespace search::index {

inline constexpr std::string_view kUrlField = "url";
inline constexpr std::string_view kLanguageField = "lang";
inline constexpr std::string_view kDateField = "date";

inline constexpr size_t kAddressWordsMax = 64;
inline constexpr size_t kFieldValueSizeMax = 64;

// Words of an address: runs of ASCII letters, digits, underscores and of bytes above 127, in lower
// case, each once. The scheme is left out.
std::vector<std::string> AddressWords(std::string_view url);

// A language tag in lower case, "en" or "pt-br"; empty if the text is not one: two or three
// letters, then parts of one to eight letters or digits after '-' or '_'.
std::string FoldedLanguage(std::string_view text);

// The days of a date that is written as "2024", "2024-03" or "2024-03-05".
struct DayRange {
  // Days since 0001-01-01, which is day 1.
  uint32_t first = 0;
  uint32_t end = 0;  // the day after the last one

  bool operator==(const DayRange&) const = default;
};

// Days of the Gregorian calendar; nullopt for other text and for dates that do not exist.
std::optional<DayRange> ParseDate(std::string_view text);
// "2024-03-05". REQUIRES: a day that ParseDate returns.
std::string FormatDay(uint32_t day);

// The field's key in the dictionary; `value` is cut at kFieldValueSizeMax bytes.
std::string FieldKey(std::string_view name, std::string_view value);

// The keys of all fields that the document has, each once. A language or a date that is not one is
// left out.
std::vector<std::string> FieldKeysOf(const IndexedDocument& document);

}  // namespace search::index

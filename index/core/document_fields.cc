#include "index/core/document_fields.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

#include "index/core/segment/format.h"

namespace search::index {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool IsOfAddressWord(char c) {
  return IsLetter(c) || IsDigit(c) || c == '_' || static_cast<uint8_t>(c) >= 0x80;
}

// Days before the year.
uint32_t DaysBefore(uint32_t year) {
  const uint32_t past = year - 1;
  return 365 * past + past / 4 - past / 100 + past / 400;
}

bool IsLeap(uint32_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

uint32_t DaysOf(uint32_t year, uint32_t month) {
  constexpr std::array<uint32_t, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return kDays[month - 1] + (month == 2 && IsLeap(year) ? 1 : 0);
}

// The number that is all of `text`, written with exactly `digits` digits.
std::optional<uint32_t> Number(std::string_view text, size_t digits) {
  uint32_t number = 0;
  if (text.size() != digits || !std::all_of(text.begin(), text.end(), IsDigit)) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

void AppendNumber(uint32_t number, size_t digits, std::string* text) {
  const std::string plain = std::to_string(number);
  text->append(digits - std::min(digits, plain.size()), '0').append(plain);
}

void AddDate(std::string_view date, std::vector<std::string>* keys) {
  constexpr size_t kDaySize = 10;
  if (date.size() != kDaySize || !ParseDate(date).has_value()) return;
  for (const size_t size : {size_t{4}, size_t{7}, kDaySize}) {
    keys->push_back(FieldKey(kDateField, date.substr(0, size)));
  }
}

}  // namespace

std::vector<std::string> AddressWords(std::string_view url) {
  if (const size_t scheme = url.find("://"); scheme != std::string_view::npos) {
    url.remove_prefix(scheme + 3);
  } else if (url.starts_with("doc:")) {
    url.remove_prefix(4);
  }
  std::vector<std::string> words;
  for (size_t at = 0; at < url.size() && words.size() < kAddressWordsMax;) {
    std::string word;
    for (; at < url.size() && IsOfAddressWord(url[at]); ++at) word += Lower(url[at]);
    ++at;
    if (word.size() > kFieldValueSizeMax) word.resize(kFieldValueSizeMax);
    if (word.empty() || std::find(words.begin(), words.end(), word) != words.end()) continue;
    words.push_back(std::move(word));
  }
  return words;
}

std::string FoldedLanguage(std::string_view text) {
  constexpr size_t kSizeMax = 35;
  std::string tag;
  size_t part_size = 0;
  bool is_first = true;
  if (text.size() > kSizeMax) return "";
  for (const char c : text) {
    if (c == '-' || c == '_') {
      if (part_size == 0 || (is_first && part_size < 2)) return "";
      is_first = false;
      part_size = 0;
      tag += '-';
      continue;
    }
    if (!IsLetter(c) && (is_first || !IsDigit(c))) return "";
    if (++part_size > (is_first ? 3U : 8U)) return "";
    tag += Lower(c);
  }
  return part_size < (is_first ? 2U : 1U) ? "" : tag;
}

std::optional<DayRange> ParseDate(std::string_view text) {
  if ((text.size() != 4 && text.size() != 7 && text.size() != 10) ||
      (text.size() > 4 && text[4] != '-') || (text.size() > 7 && text[7] != '-')) {
    return std::nullopt;
  }
  const std::optional<uint32_t> year = Number(text.substr(0, 4), 4);
  if (!year.has_value() || *year == 0) return std::nullopt;
  const uint32_t before = DaysBefore(*year);
  if (text.size() == 4) return DayRange{before + 1, DaysBefore(*year + 1) + 1};
  const std::optional<uint32_t> month = Number(text.substr(5, 2), 2);
  if (!month.has_value() || *month < 1 || *month > 12) return std::nullopt;
  uint32_t first = before + 1;
  for (uint32_t past = 1; past < *month; ++past) first += DaysOf(*year, past);
  if (text.size() == 7) return DayRange{first, first + DaysOf(*year, *month)};
  const std::optional<uint32_t> day = Number(text.substr(8, 2), 2);
  if (!day.has_value() || *day < 1 || *day > DaysOf(*year, *month)) return std::nullopt;
  return DayRange{first + *day - 1, first + *day};
}

std::string FormatDay(uint32_t day) {
  uint32_t year = day / 366 + 1;
  while (DaysBefore(year + 1) < day) ++year;
  uint32_t rest = day - DaysBefore(year);
  uint32_t month = 1;
  for (; month < 12 && rest > DaysOf(year, month); ++month) rest -= DaysOf(year, month);
  std::string text;
  AppendNumber(year, 4, &text);
  text += '-';
  AppendNumber(month, 2, &text);
  text += '-';
  AppendNumber(rest, 2, &text);
  return text;
}

std::string FieldKey(std::string_view name, std::string_view value) {
  std::string key(1, kFieldKeyPrefix);
  key.append(name).append(":").append(value.substr(0, kFieldValueSizeMax));
  return key;
}

std::vector<std::string> FieldKeysOf(const IndexedDocument& document) {
  std::vector<std::string> keys;
  for (const std::string& word : AddressWords(document.url)) {
    keys.push_back(FieldKey(kUrlField, word));
  }
  const std::string language = FoldedLanguage(document.language);
  if (!language.empty()) {
    keys.push_back(FieldKey(kLanguageField, language));
    const size_t first = language.find('-');
    if (first != std::string::npos) {
      keys.push_back(FieldKey(kLanguageField, std::string_view(language).substr(0, first)));
    }
  }
  AddDate(document.date, &keys);
  return keys;
}

}  // namespace search::index

#include "tools/lab/engine/recorded.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"

namespace search::lab {
namespace {

using neptune::StrAppend;
using neptune::StrCat;

constexpr char kTab = '\t';

// The shortest text that reads back as the same number.
std::string ExactText(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  return std::string(text, end);
}

// FNV-1a: stable over versions and machines.
class Digest {
 public:
  void Add(std::string_view bytes) {
    for (const char c : bytes) {
      value_ = (value_ ^ static_cast<unsigned char>(c)) * uint64_t{0x100000001b3};
    }
  }
  std::string ToString() const {
    char text[17];
    snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(value_));
    return text;
  }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

std::string PointLine(const Results& results, const Point& point) {
  Digest digest;
  size_t count = 0;
  for (const Measurement& run : results.Of(point)) {
    for (const auto& [metric, value] : run) {
      digest.Add(StrCat(metric, "=", ExactText(value), "\n"));
      ++count;
    }
  }
  return StrCat("point\t", point.ToString(), "\t", count, " metrics\t", digest.ToString(), "\n");
}

// The lines by their name, in order: "row<TAB>what" and the rest. Rows with one name are numbered.
std::vector<std::pair<std::string, std::string>> Lines(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> lines;
  std::map<std::string, int> seen;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line[0] == '#') continue;
    const size_t name_end =
        std::min(line.find(kTab, std::min(line.find(kTab), line.size() - 1) + 1), line.size());
    std::string name(line.substr(0, name_end));
    const int number = ++seen[name];
    if (number > 1) StrAppend(&name, " (", number, ")");
    lines.emplace_back(std::move(name), line.substr(std::min(name_end + 1, line.size())));
  }
  return lines;
}

std::string Readable(std::string text) {
  for (char& c : text) c = c == kTab ? ' ' : c;
  return text;
}

}  // namespace

std::string RecordedText(const Results& results, const Judgement& judgement) {
  std::string text;
  for (const Row& row : judgement.rows()) {
    StrAppend(&text, "row\t", row.what, "\t",
              row.estimate ? ExactText(row.estimate->middle) : row.ours, "\n");
  }
  for (const Point& point : results.points()) text += PointLine(results, point);
  return text;
}

std::string DifferencesFrom(std::string_view recorded, std::string_view present) {
  const auto before = Lines(recorded);
  const auto now = Lines(present);
  const std::map<std::string, std::string> by_name_before(before.begin(), before.end());
  const std::map<std::string, std::string> by_name_now(now.begin(), now.end());
  std::string differences;
  for (const auto& [name, value] : before) {
    const auto found = by_name_now.find(name);
    if (found != by_name_now.end() && found->second == value) continue;
    StrAppend(&differences, Readable(name), ": recorded ", Readable(value), ", now ",
              found == by_name_now.end() ? "absent" : Readable(found->second), "\n");
  }
  for (const auto& [name, value] : now) {
    if (by_name_before.contains(name)) continue;
    StrAppend(&differences, Readable(name), ": not recorded, now ", Readable(value), "\n");
  }
  return differences;
}

}  // namespace search::lab

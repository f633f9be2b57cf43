#include "tools/history/register_history.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

#include "neptune/base/strings.h"

namespace search::lab {
namespace {

using neptune::StrCat;
using neptune::TimePoint;

std::string NameOf(const RegisterOperation& operation) {
  return StrCat(operation.partition, "/", operation.key,
                operation.is_write ? ": write " : ": read of session ",
                operation.is_write ? operation.text : StrCat(operation.session));
}

// The texts of a register, with the end of each.
std::map<std::string, std::vector<size_t>> TextsOf(const std::string& contents) {
  std::map<std::string, std::vector<size_t>> texts;
  for (size_t begin = 0; begin < contents.size();) {
    const size_t end = std::min(contents.find(';', begin), contents.size() - 1) + 1;
    texts[contents.substr(begin, end - begin)].push_back(end);
    begin = end;
  }
  return texts;
}

// The begin of the write of each text of a register.
std::map<std::string, TimePoint> BeginsOf(const std::vector<const RegisterOperation*>& operations) {
  std::map<std::string, TimePoint> begins;
  for (const RegisterOperation* operation : operations) {
    if (operation->is_write) begins.emplace(operation->text, operation->begin);
  }
  return begins;
}

// A text of a register that was never written; empty: none.
std::string JudgeSource(const std::map<std::string, std::vector<size_t>>& texts,
                        const std::map<std::string, TimePoint>& begins) {
  for (const auto& [text, places] : texts) {
    if (!begins.contains(text)) return StrCat(text, " is present but was never written");
  }
  return "";
}

// When the last text of a register's beginning was begun, by the size of that beginning.
class LastBegun {
 public:
  LastBegun(const std::map<std::string, std::vector<size_t>>& texts,
            const std::map<std::string, TimePoint>& begins) {
    for (const auto& [text, places] : texts) {
      for (const size_t end : places) begins_[end] = begins.at(text);
    }
    TimePoint last = TimePoint::min();
    for (auto& [end, begin] : begins_) begin = last = std::max(last, begin);
  }
  TimePoint Of(size_t size) const {
    const auto after = begins_.upper_bound(size);
    return after == begins_.begin() ? TimePoint::min() : std::prev(after)->second;
  }

 private:
  std::map<size_t, TimePoint> begins_;
};

// The acknowledged size of a register over time.
class Acknowledged {
 public:
  explicit Acknowledged(const std::vector<const RegisterOperation*>& operations) {
    for (const RegisterOperation* operation : operations) {
      if (operation->is_write && operation->is_acknowledged) {
        sizes_.emplace_back(operation->end, operation->value.size());
      }
    }
    std::sort(sizes_.begin(), sizes_.end());
    for (size_t i = 1; i < sizes_.size(); ++i) {
      sizes_[i].second = std::max(sizes_[i].second, sizes_[i - 1].second);
    }
  }
  // Before that time.
  size_t SizeBefore(TimePoint time) const {
    const auto after = std::lower_bound(sizes_.begin(), sizes_.end(), std::pair(time, size_t{0}));
    return after == sizes_.begin() ? 0 : (after - 1)->second;
  }

 private:
  std::vector<std::pair<TimePoint, size_t>> sizes_;
};

std::string JudgeWrite(const RegisterOperation& operation,
                       const std::map<std::string, std::vector<size_t>>& texts) {
  const auto found = texts.find(operation.text);
  if (found != texts.end() && found->second.size() > 1)
    return StrCat(NameOf(operation), " is present twice");
  if (!operation.is_acknowledged) return "";
  if (found == texts.end()) return StrCat(NameOf(operation), " was acknowledged but is lost");
  if (found->second.front() != operation.value.size()) {
    return StrCat(NameOf(operation), " was answered with ", operation.value.size(),
                  " bytes, but its own text ends at ", found->second.front());
  }
  return "";
}

std::string JudgeRegister(const std::string& contents,
                          const std::vector<const RegisterOperation*>& operations) {
  const auto texts = TextsOf(contents);
  const auto begins = BeginsOf(operations);
  const std::string foreign = JudgeSource(texts, begins);
  if (!foreign.empty()) return foreign;
  const LastBegun last_begun(texts, begins);
  const Acknowledged acknowledged(operations);
  for (const RegisterOperation* operation : operations) {
    if (operation->is_write) {
      const std::string wrong = JudgeWrite(*operation, texts);
      if (!wrong.empty()) return wrong;
    }
    if (!operation->is_acknowledged) continue;
    if (contents.compare(0, operation->value.size(), operation->value) != 0) {
      return StrCat(NameOf(*operation), " returned a value that is not a prefix of the register");
    }
    if (last_begun.Of(operation->value.size()) > operation->end) {
      return StrCat(NameOf(*operation), " returned a write that began after the call had ended");
    }
    const auto staleness = operation->report.staleness;
    if (!operation->is_write && staleness &&
        operation->value.size() < acknowledged.SizeBefore(operation->begin - *staleness)) {
      return StrCat(NameOf(*operation), " is staler than it reports");
    }
  }
  return "";
}

std::string JudgeSessions(const std::vector<RegisterOperation>& history) {
  std::map<std::tuple<int, uint32_t, std::string>, size_t> sizes;
  std::map<std::pair<int, uint32_t>, neptune::Lsn> versions;
  for (const RegisterOperation& operation : history) {  // those of a session are in their order
    if (!operation.is_acknowledged) continue;
    size_t& size = sizes[{operation.session, operation.partition, operation.key}];
    neptune::Lsn& version = versions[{operation.session, operation.partition}];
    if (operation.value.size() < size)
      return StrCat(NameOf(operation), " returned less than the session had already seen");
    if (operation.report.version < version)
      return StrCat(NameOf(operation), " has an older version than the session had already seen");
    size = operation.value.size();
    version = operation.report.version;
  }
  return "";
}

// `texts` are the final contents of the register.
std::string JudgeInsert(const RegisterOperation& operation,
                        const std::map<std::string, std::vector<size_t>>& texts) {
  if (operation.is_write) {
    const auto found = texts.find(operation.text);
    if (found != texts.end() && found->second.size() > 1)
      return StrCat(NameOf(operation), " is present twice");
    if (found == texts.end() && operation.is_acknowledged)
      return StrCat(NameOf(operation), " was acknowledged but is lost");
  }
  if (!operation.is_acknowledged) return "";
  const auto answered = TextsOf(operation.value);
  if (operation.is_write && !answered.contains(operation.text))
    return StrCat(NameOf(operation), " was answered without its own text");
  for (const auto& [text, places] : answered) {
    if (places.size() > 1) return StrCat(NameOf(operation), " returned a text twice");
    if (!texts.contains(text))
      return StrCat(NameOf(operation), " was answered with ", text, ", which is lost");
  }
  return "";
}

}  // namespace

std::string JudgeInserts(const std::vector<RegisterOperation>& history,
                         const RegisterContents& contents) {
  std::map<std::pair<uint32_t, std::string>, std::vector<const RegisterOperation*>> by_register;
  for (const RegisterOperation& operation : history) {
    by_register[{operation.partition, operation.key}].push_back(&operation);
  }
  std::map<std::pair<uint32_t, std::string>, std::map<std::string, std::vector<size_t>>> texts;
  for (const auto& [place, content] : contents) {
    texts[place] = TextsOf(content);
    const std::string foreign = JudgeSource(texts[place], BeginsOf(by_register[place]));
    if (!foreign.empty()) return foreign;
  }
  for (const RegisterOperation& operation : history) {
    const std::string wrong = JudgeInsert(operation, texts[{operation.partition, operation.key}]);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

std::string JudgeRegisters(const std::vector<RegisterOperation>& history,
                           const RegisterContents& contents, bool progressive) {
  std::map<std::pair<uint32_t, std::string>, std::vector<const RegisterOperation*>> by_register;
  for (const RegisterOperation& operation : history) {
    by_register[{operation.partition, operation.key}].push_back(&operation);
  }
  for (const auto& [place, operations] : by_register) {
    const auto found = contents.find(place);
    const std::string wrong =
        JudgeRegister(found == contents.end() ? "" : found->second, operations);
    if (!wrong.empty()) return wrong;
  }
  return progressive ? JudgeSessions(history) : "";
}

}  // namespace search::lab

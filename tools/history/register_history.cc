#include "tools/history/register_history.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "neptune/base/strings.h"
#include "tools/history/log_history.h"
#include "tools/history/session_history.h"

namespace search::history {
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

// The time at which the write of each text of a register began.
std::map<std::string, TimePoint> BeginsOf(const std::vector<const RegisterOperation*>& operations) {
  std::map<std::string, TimePoint> begins;
  for (const RegisterOperation* operation : operations) {
    if (operation->is_write) begins.emplace(operation->text, operation->begin);
  }
  return begins;
}

// A text of a register that was never written; empty: none.
std::string CheckSource(const std::map<std::string, std::vector<size_t>>& texts,
                        const std::map<std::string, TimePoint>& begins) {
  for (const auto& [text, places] : texts) {
    if (!begins.contains(text)) return StrCat(text, " is present but was never written");
  }
  return "";
}

std::string CheckWrite(const RegisterOperation& operation,
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

// The contents of one register, and the operations on it.
struct Register {
  std::string contents;
  std::map<std::string, std::vector<size_t>> texts;  // of the contents
  std::vector<const RegisterOperation*> operations;
};

// A log's history with the operation of each entry; the last entry reads the final contents.
struct AppendHistory {
  std::vector<LogOperation> entries;
  std::vector<const RegisterOperation*> operations;
};

std::vector<std::string> Values(const std::string& contents) {
  std::vector<std::string> values;
  for (size_t begin = 0; begin < contents.size();) {
    const size_t end = std::min(contents.find(';', begin), contents.size() - 1) + 1;
    values.push_back(contents.substr(begin, end - begin));
    begin = end;
  }
  return values;
}

// REQUIRES: no text is twice in the register, and all acknowledged ones are in it.
AppendHistory AppendsAndReads(const Register& one) {
  AppendHistory history;
  const std::vector<std::string> values = Values(one.contents);
  std::map<std::string, uint64_t> places;
  for (const std::string& value : values) places.emplace(value, places.size() + 1);
  TimePoint last{};
  for (const RegisterOperation* operation : one.operations) {
    last = std::max({last, operation->begin, operation->is_acknowledged ? operation->end : last});
    LogOperation entry;
    if (operation->is_write) {
      const auto place = places.find(operation->text);
      if (place == places.end()) continue;  // it took no effect
      entry.value = operation->text;
      entry.place = place->second;
      entry.invoked = operation->begin;
      if (operation->is_acknowledged) entry.returned = operation->end;
    } else {
      if (!operation->is_acknowledged) continue;
      entry.kind = LogOperation::Kind::kRead;
      entry.contents = Values(operation->value);
      entry.invoked =
          operation->staleness ? operation->begin - *operation->staleness : TimePoint::min();
      entry.returned = operation->end;
    }
    history.entries.push_back(std::move(entry));
    history.operations.push_back(operation);
  }
  LogOperation end;
  end.kind = LogOperation::Kind::kRead;
  end.contents = values;
  end.invoked = end.returned = last;
  history.entries.push_back(std::move(end));
  return history;
}

// Explains why an operation has no place in the order of the register.
std::string ExplainOrder(const RegisterOperation& operation, const Register& one) {
  for (const RegisterOperation* other : one.operations) {
    const auto place = one.texts.find(other->text);
    if (!other->is_write || place == one.texts.end()) continue;
    if (place->second.front() <= operation.value.size() && other->begin > operation.end) {
      return StrCat(NameOf(operation), " returned a write that began after the call had ended");
    }
  }
  if (!operation.is_write && operation.staleness) {
    return StrCat(NameOf(operation), " is staler than it reports");
  }
  return StrCat(NameOf(operation), " has no place in the order of the other calls");
}

std::string CheckOrder(const Register& one) {
  const AppendHistory history = AppendsAndReads(one);
  const LinearizabilityResult result = CheckLog(history.entries);
  if (result.verdict == Verdict::kLinearizable) return "";
  if (result.verdict == Verdict::kGaveUp) return "the order of a register is too hard to check";
  if (result.stuck_at == history.operations.size()) {
    return "the final contents of a register have an impossible order";
  }
  return ExplainOrder(*history.operations[result.stuck_at], one);
}

std::string CheckRegister(const Register& one) {
  const std::string foreign = CheckSource(one.texts, BeginsOf(one.operations));
  if (!foreign.empty()) return foreign;
  for (const RegisterOperation* operation : one.operations) {
    if (operation->is_write) {
      const std::string wrong = CheckWrite(*operation, one.texts);
      if (!wrong.empty()) return wrong;
    }
    if (operation->is_acknowledged && !one.contents.starts_with(operation->value)) {
      return StrCat(NameOf(*operation), " returned a value that is not a prefix of the register");
    }
  }
  return CheckOrder(one);
}

// Numbers keys in the order in which they are first used.
template <typename Key>
class Numbers {
 public:
  uint64_t Of(const Key& key) { return numbers_.try_emplace(key, numbers_.size()).first->second; }

 private:
  std::map<Key, uint64_t> numbers_;
};

const char* Explain(SessionRule rule, bool is_size) {
  if (rule == SessionRule::kStalenessUnderstated) return " is staler than it reports";
  return is_size ? " returned less than the session had already seen"
                 : " has an older version than the session had already seen";
}

// Checks that sessions see versions of a partition and sizes of a register grow. If they need not,
// only the reported staleness is checked, which sizes do not have.
std::string CheckSessionsOf(const std::vector<RegisterOperation>& history, bool progressive) {
  for (const bool is_size : {true, false}) {
    if (is_size && !progressive) continue;
    Numbers<std::tuple<int, uint32_t, std::string>> sessions;
    std::map<uint32_t, std::pair<std::vector<SessionOperation>, std::vector<AcknowledgedVersion>>>
        partitions;
    std::map<uint32_t, std::vector<const RegisterOperation*>> operations;
    for (const RegisterOperation& operation : history) {
      if (!operation.is_acknowledged) continue;
      const uint32_t partition = operation.partition;
      auto& [session_history, acknowledged] = partitions[partition];
      const uint64_t version = is_size ? operation.value.size() : operation.version;
      const std::string key = is_size ? operation.key : "";
      session_history.push_back({.session = sessions.Of({operation.session, partition, key}),
                                 .is_write = operation.is_write,
                                 .version = version,
                                 .invoked = operation.begin,
                                 .returned = operation.end});
      if (!is_size && !operation.is_write) {
        session_history.back().reported_staleness = operation.staleness;
      }
      if (!is_size && operation.is_write) acknowledged.push_back({version, operation.end});
      operations[partition].push_back(&operation);
    }
    for (const auto& [partition, checked] : partitions) {
      for (const SessionViolation& found : CheckSessions(checked.first, checked.second)) {
        if (!progressive && found.rule != SessionRule::kStalenessUnderstated) continue;
        return StrCat(NameOf(*operations[partition][found.operation]),
                      Explain(found.rule, is_size));
      }
    }
  }
  return "";
}

// `texts` are the final contents of the register.
std::string CheckInsert(const RegisterOperation& operation,
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

std::string CheckInserts(const std::vector<RegisterOperation>& history,
                         const RegisterContents& contents) {
  std::map<std::pair<uint32_t, std::string>, std::vector<const RegisterOperation*>> by_register;
  for (const RegisterOperation& operation : history) {
    by_register[{operation.partition, operation.key}].push_back(&operation);
  }
  std::map<std::pair<uint32_t, std::string>, std::map<std::string, std::vector<size_t>>> texts;
  for (const auto& [place, content] : contents) {
    texts[place] = TextsOf(content);
    const std::string foreign = CheckSource(texts[place], BeginsOf(by_register[place]));
    if (!foreign.empty()) return foreign;
  }
  for (const RegisterOperation& operation : history) {
    const std::string wrong = CheckInsert(operation, texts[{operation.partition, operation.key}]);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

std::string CheckRegisters(const std::vector<RegisterOperation>& history,
                           const RegisterContents& contents, bool progressive) {
  std::map<std::pair<uint32_t, std::string>, Register> registers;
  for (const RegisterOperation& operation : history) {
    registers[{operation.partition, operation.key}].operations.push_back(&operation);
  }
  for (auto& [place, one] : registers) {
    const auto found = contents.find(place);
    if (found != contents.end()) one.contents = found->second;
    one.texts = TextsOf(one.contents);
    const std::string wrong = CheckRegister(one);
    if (!wrong.empty()) return wrong;
  }
  return CheckSessionsOf(history, progressive);
}

}  // namespace search::history

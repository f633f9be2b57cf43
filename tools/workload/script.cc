#include "tools/workload/script.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "neptune/base/strings.h"

namespace search::workload {
namespace {

using Kind = ScriptEvent::Kind;

struct Verb {
  std::string_view name;
  Kind kind;
  bool with_amount;
};
constexpr Verb kVerbs[] = {
    {"pause", Kind::kPause, false}, {"resume", Kind::kResume, false},
    {"crash", Kind::kCrash, false}, {"restart", Kind::kRestart, false},
    {"slow", Kind::kSlow, true},    {"fail", Kind::kFail, true},
    {"hang", Kind::kHang, false},   {"normal", Kind::kNormal, false},
};

std::vector<std::string_view> Split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t begin = text.find_first_not_of(separators);
    if (begin == std::string_view::npos) return parts;
    text.remove_prefix(begin);
    const size_t end = std::min(text.find_first_of(separators), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

// A number and what follows it.
std::optional<std::pair<double, std::string_view>> Number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !(value >= 0)) return std::nullopt;
  return std::pair(value, text.substr(static_cast<size_t>(end - text.data())));
}

neptune::StatusOr<neptune::Duration> ParseTime(std::string_view text) {
  const auto number = Number(text);
  constexpr double kSecondsMax = 1e9;
  if (number && number->second == "s" && number->first <= kSecondsMax) {
    return neptune::FromSeconds(number->first);
  }
  if (number && number->second == "ms" && number->first <= kSecondsMax) {
    return neptune::FromSeconds(number->first / 1000);
  }
  return neptune::InvalidArgument("'", text, "' is not a time such as 1.5s or 200ms");
}

neptune::StatusOr<ScriptEvent> ParseEvent(std::string_view text) {
  const std::vector<std::string_view> words = Split(text, " \t\n");
  if (words.size() < 3) {
    return neptune::InvalidArgument("event '", text, "' is not TIME VERB NODE [AMOUNT]");
  }
  ScriptEvent event;
  NEPTUNE_ASSIGN_OR_RETURN(event.at, ParseTime(words[0]));
  const auto verb = std::find_if(std::begin(kVerbs), std::end(kVerbs),
                                 [&](const Verb& one) { return one.name == words[1]; });
  if (verb == std::end(kVerbs)) {
    return neptune::InvalidArgument("event '", text, "': unknown verb '", words[1], "'");
  }
  event.kind = verb->kind;
  event.node = std::string(words[2]);
  if (words.size() != (verb->with_amount ? 4u : 3u)) {
    return neptune::InvalidArgument("event '", text, "': ", verb->name, " takes a node",
                                    verb->with_amount ? " and an amount" : "");
  }
  if (verb->with_amount) {
    const auto amount = Number(words[3]);
    if (!amount || !amount->second.empty() || amount->first <= 0) {
      return neptune::InvalidArgument("event '", text, "': '", words[3],
                                      "' is not an amount above 0");
    }
    event.amount = amount->first;
  }
  return event;
}

}  // namespace

neptune::StatusOr<std::vector<ScriptEvent>> ParseScript(std::string_view text) {
  std::vector<ScriptEvent> events;
  for (const std::string_view part : Split(text, ";")) {
    if (Split(part, " \t\n").empty()) continue;
    if (events.size() == kScriptEventCountMax) {
      return neptune::InvalidArgument("a script has at most ", kScriptEventCountMax, " events");
    }
    NEPTUNE_ASSIGN_OR_RETURN(ScriptEvent event, ParseEvent(part));
    events.push_back(std::move(event));
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const auto& a, const auto& b) { return a.at < b.at; });
  return events;
}

}  // namespace search::workload

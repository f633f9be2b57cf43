#include "neptune/world/faults/fault.h"

#include <glog/logging.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

using Kind = Fault::Kind;

constexpr std::string_view kAmountPrefix = "amount=";

constexpr FaultTraits kTraits[] = {
    {Kind::kCrash, "crash", FaultScope::kHost, FaultAmount::kZeroOrOne, HostEffect::kAway},
    {Kind::kPause, "pause", FaultScope::kHost, FaultAmount::kNone, HostEffect::kAway},
    {Kind::kCut, "cut", FaultScope::kSides, FaultAmount::kNone},
    {Kind::kCutOneWay, "cut_one_way", FaultScope::kSides, FaultAmount::kNone},
    {Kind::kLossOneWay, "loss_one_way", FaultScope::kSides, FaultAmount::kProbability},
    {Kind::kSlowProcessors, "slow_processors", FaultScope::kHost, FaultAmount::kFactor,
     HostEffect::kSlow},
    {Kind::kClockOffset, "clock_offset", FaultScope::kHost, FaultAmount::kSeconds},
    {Kind::kLatency, "latency", FaultScope::kNetwork, FaultAmount::kFactor},
    {Kind::kDatagramLoss, "datagram_loss", FaultScope::kNetwork, FaultAmount::kProbability},
    {Kind::kDatagramDuplication, "datagram_duplication", FaultScope::kNetwork,
     FaultAmount::kProbability},
    {Kind::kDatagramReordering, "datagram_reordering", FaultScope::kNetwork,
     FaultAmount::kProbability},
    {Kind::kStreamLoss, "stream_loss", FaultScope::kNetwork, FaultAmount::kProbability},
    {Kind::kLeave, "leave", FaultScope::kHost, FaultAmount::kNone, HostEffect::kAway,
     FaultNeeds::kProgram},
    {Kind::kHang, "hang", FaultScope::kHost, FaultAmount::kNone, HostEffect::kUnresponsive,
     FaultNeeds::kProgram},
    {Kind::kIsolate, "isolate", FaultScope::kHost, FaultAmount::kNone, HostEffect::kAway},
    {Kind::kFullDisk, "full_disk", FaultScope::kHost, FaultAmount::kZeroOrOne,
     HostEffect::kUnresponsive, FaultNeeds::kStorage},
    {Kind::kSlowFlush, "slow_flush", FaultScope::kHost, FaultAmount::kDelay, HostEffect::kSlow,
     FaultNeeds::kStorage},
    {Kind::kReadErrors, "read_errors", FaultScope::kHost, FaultAmount::kProbability,
     HostEffect::kUnresponsive, FaultNeeds::kStorage},
    {Kind::kBitFlip, "bit_flip", FaultScope::kHost, FaultAmount::kZeroOrOne, HostEffect::kAway,
     FaultNeeds::kStorage},
    {Kind::kCrashInFlush, "crash_in_flush", FaultScope::kHost, FaultAmount::kNone,
     HostEffect::kAway, FaultNeeds::kStorage},
    {Kind::kDescriptorLimit, "descriptor_limit", FaultScope::kHost, FaultAmount::kNone,
     HostEffect::kUnresponsive, FaultNeeds::kStorage},
    {Kind::kMemoryLimit, "memory_limit", FaultScope::kHost, FaultAmount::kNone,
     HostEffect::kUnresponsive, FaultNeeds::kProcess},
    {Kind::kFloodShort, "flood_short", FaultScope::kHost, FaultAmount::kNone, HostEffect::kSlow,
     FaultNeeds::kProgram},
    {Kind::kFloodReads, "flood_reads", FaultScope::kHost, FaultAmount::kNone, HostEffect::kSlow,
     FaultNeeds::kProgram},
    {Kind::kFloodLong, "flood_long", FaultScope::kHost, FaultAmount::kNone, HostEffect::kSlow,
     FaultNeeds::kProgram},
    {Kind::kFloodHuge, "flood_huge", FaultScope::kHost, FaultAmount::kNone, HostEffect::kSlow,
     FaultNeeds::kProgram},
    {Kind::kHungLoop, "hung_loop", FaultScope::kHost, FaultAmount::kNone,
     HostEffect::kUnresponsive},
    {Kind::kBlockedLog, "blocked_log", FaultScope::kHost, FaultAmount::kNone,
     HostEffect::kUnresponsive, FaultNeeds::kProcess},
    {Kind::kFullCapsule, "full_capsule", FaultScope::kHost, FaultAmount::kNone, HostEffect::kSlow,
     FaultNeeds::kProgram},
    {Kind::kNoRoom, "no_room", FaultScope::kHost, FaultAmount::kZeroOrOne,
     HostEffect::kUnresponsive, FaultNeeds::kProgram},
    {Kind::kLogDecay, "log_decay", FaultScope::kHost, FaultAmount::kNone, HostEffect::kUnresponsive,
     FaultNeeds::kProgram},
};

std::string Join(const std::set<std::string>& names) {
  std::string joined;
  for (const std::string& name : names) StrAppend(&joined, joined.empty() ? "" : ",", name);
  return joined;
}

std::set<std::string> Split(std::string_view names) {
  std::set<std::string> split;
  while (!names.empty()) {
    const size_t end = std::min(names.find(','), names.size());
    if (end > 0) split.emplace(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return split;
}

// The shortest text that gives the same number again.
std::string Exactly(double value) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof(text), value).ptr};
}

std::optional<double> ParseNumber(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string SecondsOf(TimePoint time) {
  const int64_t count = time.time_since_epoch().count();
  const std::string fraction = std::to_string(1'000'000'000 + count % 1'000'000'000).substr(1);
  const size_t digits = fraction.find_last_not_of('0') + 1;
  return StrCat(count / 1'000'000'000, digits > 0 ? "." : "", fraction.substr(0, digits));
}

std::optional<TimePoint> ParseSeconds(std::string_view text) {
  constexpr double kSecondsMax = 1e6;  // above it a double does not hold nanoseconds
  const std::optional<double> seconds = ParseNumber(text);
  if (!seconds || !(*seconds >= 0 && *seconds <= kSecondsMax)) return std::nullopt;
  return TimePoint(Duration(std::llround(*seconds * 1e9)));
}

// Returns the text up to the next space and removes both from `rest`.
std::string_view NextWord(std::string_view* rest) {
  const size_t end = std::min(rest->find(' '), rest->size());
  const std::string_view word = rest->substr(0, end);
  rest->remove_prefix(std::min(end + 1, rest->size()));
  return word;
}

Status CheckHosts(const Fault& fault) {
  const FaultScope scope = TraitsOf(fault.kind).scope;
  const bool is_right = scope == FaultScope::kHost ? fault.hosts.size() == 1 && fault.others.empty()
                        : scope == FaultScope::kSides
                            ? !fault.hosts.empty() && !fault.others.empty()
                            : fault.hosts.empty() && fault.others.empty();
  if (is_right) return OkStatus();
  return InvalidArgument("'", fault.ToString(), "' needs ",
                         scope == FaultScope::kHost    ? "one host"
                         : scope == FaultScope::kSides ? "hosts on two sides"
                                                       : "no hosts");
}

}  // namespace

std::span<const FaultTraits> AllFaultTraits() { return kTraits; }

const FaultTraits& TraitsOf(Kind kind) {
  const FaultTraits& traits = kTraits[static_cast<size_t>(kind)];
  CHECK(traits.kind == kind) << "the table of faults is not in the order of the enumerators";
  return traits;
}

std::string Fault::ToString() const {
  std::string text = TraitsOf(kind).name;
  if (!hosts.empty()) StrAppend(&text, " ", Join(hosts));
  if (!others.empty()) StrAppend(&text, " | ", Join(others));
  if (amount != 0) StrAppend(&text, " ", kAmountPrefix, Exactly(amount));
  return text;
}

StatusOr<Fault> ParseFault(std::string_view text) {
  std::string_view rest = text;
  const std::string_view name = NextWord(&rest);
  const auto found = std::find_if(std::begin(kTraits), std::end(kTraits),
                                  [&](const FaultTraits& traits) { return name == traits.name; });
  if (found == std::end(kTraits)) return InvalidArgument("no kind of fault is called '", name, "'");
  Fault fault;
  fault.kind = found->kind;
  bool has_sides = false;
  while (!rest.empty()) {
    const std::string_view word = NextWord(&rest);
    if (word == "|") {
      has_sides = true;
    } else if (word.starts_with(kAmountPrefix)) {
      const std::optional<double> amount = ParseNumber(word.substr(kAmountPrefix.size()));
      if (!amount) return InvalidArgument("'", word, "' is not an amount");
      if (found->amount == FaultAmount::kNone) {
        return InvalidArgument("'", name, "' has no amount");
      }
      fault.amount = *amount;
    } else {
      std::set<std::string>& side = has_sides ? fault.others : fault.hosts;
      if (!side.empty()) return InvalidArgument("hosts are separated by commas, without spaces");
      side = Split(word);
    }
  }
  NEPTUNE_RETURN_IF_ERROR(CheckHosts(fault));
  return fault;
}

std::string FaultSpan::ToString() const {
  return StrCat(SecondsOf(begin), "-", SecondsOf(end), " s ", fault.ToString());
}

StatusOr<FaultSpan> ParseFaultSpan(std::string_view text) {
  std::string_view rest = text;
  const std::string_view times = NextWord(&rest);
  const size_t dash = std::min(times.find('-'), times.size());
  const auto begin = ParseSeconds(times.substr(0, dash));
  const auto end = ParseSeconds(times.substr(std::min(dash + 1, times.size())));
  if (!begin || !end || *end < *begin || NextWord(&rest) != "s") {
    return InvalidArgument("expected 'BEGIN-END s FAULT', found '", text, "'");
  }
  NEPTUNE_ASSIGN_OR_RETURN(Fault fault, ParseFault(rest));
  return FaultSpan{*begin, *end, std::move(fault)};
}

std::string ToString(const FaultSchedule& schedule) {
  std::string text;
  for (const FaultSpan& span : schedule) StrAppend(&text, span.ToString(), "\n");
  return text;
}

StatusOr<FaultSchedule> ParseFaultSchedule(std::string_view text) {
  FaultSchedule schedule;
  for (int line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view content = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    content.remove_prefix(std::min(content.find_first_not_of(' '), content.size()));
    if (content.empty() || content.front() == '#') continue;
    StatusOr<FaultSpan> span = ParseFaultSpan(content);
    if (!span.ok()) return Annotate(span.status(), StrCat("line ", line));
    schedule.push_back(*std::move(span));
  }
  std::stable_sort(schedule.begin(), schedule.end(),
                   [](const FaultSpan& a, const FaultSpan& b) { return a.begin < b.begin; });
  return schedule;
}

std::vector<FaultChange> ChangesOf(const FaultSchedule& schedule) {
  std::vector<FaultChange> changes;
  for (const FaultSpan& span : schedule) {
    changes.push_back({span.begin, /*begins=*/true, span.fault});
    changes.push_back({span.end, /*begins=*/false, span.fault});
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const FaultChange& a, const FaultChange& b) { return a.at < b.at; });
  return changes;
}

}  // namespace neptune

#include "neptune/capsule/classification_rule.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "neptune/base/strings.h"

namespace neptune {
namespace {

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Parses "a.b.c.d"; nullopt: not an address.
std::optional<uint32_t> ParseAddress(std::string_view text) {
  uint32_t address = 0;
  for (int part = 0; part < 4; ++part) {
    const size_t dot = text.find('.');
    if ((dot == std::string_view::npos) != (part == 3)) return std::nullopt;
    const auto byte = ParseNumber<uint8_t>(text.substr(0, dot));
    if (!byte) return std::nullopt;
    address = address << 8 | *byte;
    text.remove_prefix(std::min(text.size(), dot + 1));
  }
  return address;
}

uint32_t MaskOf(int bits) { return bits == 0 ? 0 : ~uint32_t{0} << (32 - bits); }

// Host names must not end in a number, so that a mistyped address is not taken for a name.
bool EndsInNumber(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('.') + 1);
  return std::all_of(last.begin(), last.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool IsHostName(std::string_view name) {
  return !name.empty() && !EndsInNumber(name) && name.size() <= 253 && name.front() != '.' &&
         name.front() != '-' && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '.' || c == '_';
         });
}

// A character set whose text follows a '['.
struct CharacterSet {
  size_t size = 0;  // length including its ']'; 0: unterminated
  bool holds = false;
};
CharacterSet ReadSet(std::string_view text, char c) {
  CharacterSet set;
  size_t at = 0;
  const bool inverted = at < text.size() && text[at] == '!';
  if (inverted) ++at;
  const size_t first = at;
  while (at < text.size() && (text[at] != ']' || at == first)) {
    if (at + 2 < text.size() && text[at + 1] == '-' && text[at + 2] != ']') {
      set.holds |= text[at] <= c && c <= text[at + 2];
      at += 3;
    } else {
      set.holds |= text[at++] == c;
    }
  }
  if (at < text.size()) set.size = at + 1;
  set.holds ^= inverted;
  return set;
}

// One element of a pattern.
struct Element {
  enum class Kind { kLiteral, kOne, kSet, kWithinName, kAcross } kind = Kind::kLiteral;
  std::string_view text;  // kSet: the text after '['
  char literal = 0;

  bool Takes(char c) const {
    switch (kind) {
      case Kind::kLiteral:
        return c == literal;
      case Kind::kOne:
        return c != '/';
      case Kind::kSet:
        return c != '/' && ReadSet(text, c).holds;
      case Kind::kWithinName:
        return c != '/';
      case Kind::kAcross:
        return true;
    }
    return false;
  }
  bool repeats() const { return kind == Kind::kWithinName || kind == Kind::kAcross; }
};

// True if some character matches both elements.
bool AcceptTheSame(const Element& a, const Element& b) {
  for (int c = 1; c < 256; ++c) {
    if (a.Takes(static_cast<char>(c)) && b.Takes(static_cast<char>(c))) return true;
  }
  return false;
}

// nullopt: a set is unterminated.
std::optional<std::vector<Element>> Compile(std::string_view pattern) {
  std::vector<Element> elements;
  for (size_t at = 0; at < pattern.size();) {
    const char c = pattern[at];
    if (c == '*' && pattern.substr(at, 2) == "**") {
      elements.push_back({Element::Kind::kAcross, {}, 0});
      at += 2;
    } else if (c == '*') {
      elements.push_back({Element::Kind::kWithinName, {}, 0});
      ++at;
    } else if (c == '?') {
      elements.push_back({Element::Kind::kOne, {}, 0});
      ++at;
    } else if (c == '[') {
      const std::string_view rest = pattern.substr(at + 1);
      const CharacterSet set = ReadSet(rest, 0);
      if (set.size == 0) return std::nullopt;
      elements.push_back({Element::Kind::kSet, rest.substr(0, set.size), 0});
      at += 1 + set.size;
    } else {
      elements.push_back({Element::Kind::kLiteral, {}, c});
      ++at;
    }
  }
  return elements;
}

}  // namespace

// Most patterns are a folder and "**", which need no automaton. The rest is simulated as one: the
// set of reachable positions per byte of the path.
bool PathMatches(std::string_view pattern, std::string_view path) {
  const size_t literal_size = std::min(pattern.find_first_of("*?["), pattern.size());
  if (!path.starts_with(pattern.substr(0, literal_size))) return false;
  pattern.remove_prefix(literal_size);
  path.remove_prefix(literal_size);
  if (pattern == "**") return true;
  const auto elements = Compile(pattern);
  if (!elements) return false;
  const size_t count = elements->size();
  std::vector<bool> reached(count + 1);
  const auto pass_repeats = [&](std::vector<bool>& positions) {
    for (size_t i = 0; i < count; ++i) {
      if (positions[i] && (*elements)[i].repeats()) positions[i + 1] = true;
    }
  };
  reached[0] = true;
  pass_repeats(reached);
  for (const char c : path) {
    std::vector<bool> next(count + 1);
    for (size_t i = 0; i < count; ++i) {
      if (!reached[i] || !(*elements)[i].Takes(c)) continue;
      next[(*elements)[i].repeats() ? i : i + 1] = true;
    }
    pass_repeats(next);
    reached = std::move(next);
  }
  return reached[count];
}

// Searches the product automaton: pairs of positions that one path can reach.
bool PatternsMeet(std::string_view first, std::string_view second) {
  const auto a = Compile(first);
  const auto b = Compile(second);
  if (!a || !b) return false;
  const size_t width = b->size() + 1;
  std::vector<bool> reached((a->size() + 1) * width);
  std::vector<std::pair<size_t, size_t>> open;
  const auto reach = [&](size_t i, size_t j) {
    if (reached[i * width + j]) return;
    reached[i * width + j] = true;
    open.emplace_back(i, j);
  };
  reach(0, 0);
  while (!open.empty()) {
    const auto [i, j] = open.back();
    open.pop_back();
    const bool a_repeats = i < a->size() && (*a)[i].repeats();
    const bool b_repeats = j < b->size() && (*b)[j].repeats();
    if (a_repeats) reach(i + 1, j);
    if (b_repeats) reach(i, j + 1);
    if (i < a->size() && j < b->size() && AcceptTheSame((*a)[i], (*b)[j])) {
      reach(a_repeats ? i : i + 1, b_repeats ? j : j + 1);
    }
  }
  return reached.back();
}

ResourceType TypeOf(const BlockingOperation& operation) {
  return std::holds_alternative<NetworkOperation>(operation) ? ResourceType::kNetwork
                                                             : ResourceType::kDevice;
}

StatusOr<ClassificationRule> ClassificationRule::Parse(std::string_view text) {
  if (text.size() > kRuleSizeMax) {
    return InvalidArgument("a rule of ", text.size(), " bytes exceeds ", kRuleSizeMax);
  }
  const size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view rest =
      colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  StatusOr<Rule> rule =
      InvalidArgument("unknown kind '", kind, "', expected inet, service or disk");
  if (kind == "inet") rule = ParseInet(rest);
  if (kind == "service") rule = ParseService(rest);
  if (kind == "disk") rule = ParseDisk(rest);
  if (!rule.ok()) return Annotate(rule.status(), StrCat("rule '", text, "'"));
  return ClassificationRule(std::string(text), *std::move(rule));
}

StatusOr<ClassificationRule::Rule> ClassificationRule::ParseInet(std::string_view text) {
  const size_t colon = text.rfind(':');
  const std::string_view peer = text.substr(0, colon);
  std::optional<uint16_t> port;
  if (colon != std::string_view::npos) {
    port = ParseNumber<uint16_t>(text.substr(colon + 1));
    if (!port || *port == 0) {
      return InvalidArgument("'", text.substr(colon + 1), "' is not a port");
    }
  }
  if (peer == "*") return Rule(Peers{0, 0, port});
  const size_t slash = peer.find('/');
  const std::optional<uint32_t> address = ParseAddress(peer.substr(0, slash));
  if (slash != std::string_view::npos) {
    const auto bits = ParseNumber<int>(peer.substr(slash + 1));
    if (!address || !bits || *bits < 0 || *bits > 32) {
      return InvalidArgument("'", peer, "' is not a network a.b.c.d/bits");
    }
    if ((*address & ~MaskOf(*bits)) != 0) {
      return InvalidArgument("'", peer, "' has bits set after the first ", *bits);
    }
    return Rule(Peers{*address, MaskOf(*bits), port});
  }
  if (address) return Rule(Peers{*address, MaskOf(32), port});
  if (!IsHostName(peer))
    return InvalidArgument("'", peer, "' is neither an address nor a host name");
  return Rule(Host{absl::AsciiStrToLower(ToAbsl(peer)), port});
}

StatusOr<ClassificationRule::Rule> ClassificationRule::ParseService(std::string_view text) {
  const size_t at = text.find('@');
  const std::string_view node =
      at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  if (at != std::string_view::npos && node.empty())
    return InvalidArgument("expected a node name after '@'");
  text = text.substr(0, at);
  const size_t slash = text.find('/');
  Service service{std::string(text.substr(0, slash)), std::nullopt, std::string(node)};
  if (service.name.empty()) return InvalidArgument("expected a service name");
  if (slash != std::string_view::npos) {
    const auto partition = ParseNumber<uint32_t>(text.substr(slash + 1));
    if (!partition)
      return InvalidArgument("'", text.substr(slash + 1), "' is not a partition number");
    service.partition = PartitionId(*partition);
  }
  return Rule(std::move(service));
}

StatusOr<ClassificationRule::Rule> ClassificationRule::ParseDisk(std::string_view text) {
  if (!text.starts_with('/')) return InvalidArgument("'", text, "' is not an absolute path");
  if (!Compile(text)) return InvalidArgument("unterminated '[' in '", text, "'");
  return Rule(Path{std::string(text)});
}

ResourceType ClassificationRule::type() const {
  return std::holds_alternative<Path>(rule_) ? ResourceType::kDevice : ResourceType::kNetwork;
}

bool ClassificationRule::Matches(const BlockingOperation& operation) const {
  if (type() != TypeOf(operation)) return false;
  if (const auto* const path = std::get_if<Path>(&rule_)) {
    return PathMatches(path->pattern, std::get<DeviceOperation>(operation).path);
  }
  const auto& network = std::get<NetworkOperation>(operation);
  const auto port_fits = [&](const std::optional<uint16_t>& port) {
    return !port || *port == network.port;
  };
  if (const auto* const peers = std::get_if<Peers>(&rule_)) {
    return (network.address & peers->mask) == peers->address && port_fits(peers->port);
  }
  if (const auto* const host = std::get_if<Host>(&rule_)) {
    return absl::EqualsIgnoreCase(ToAbsl(network.host), host->name) && port_fits(host->port);
  }
  const auto& service = std::get<Service>(rule_);
  return network.service == service.name &&
         (!service.partition || service.partition == network.partition) &&
         (service.node.empty() || service.node == network.node);
}

std::optional<PeerAddress> ClassificationRule::peer() const {
  const auto* const peers = std::get_if<Peers>(&rule_);
  if (peers == nullptr || peers->mask != MaskOf(32) || !peers->port) return std::nullopt;
  return PeerAddress{peers->address, *peers->port};
}

bool ClassificationRule::Covers(const ClassificationRule& other) const {
  if (text_ == other.text_) return true;
  if (const auto* const mine = std::get_if<Peers>(&rule_)) {
    if (mine->mask == 0 && !mine->port) return other.type() == ResourceType::kNetwork;
    if (const auto* const host = std::get_if<Host>(&other.rule_)) {
      return mine->mask == 0 && mine->port == host->port;
    }
    const auto* const theirs = std::get_if<Peers>(&other.rule_);
    return theirs != nullptr && (mine->mask & theirs->mask) == mine->mask &&
           (theirs->address & mine->mask) == mine->address &&
           (!mine->port || mine->port == theirs->port);
  }
  if (const auto* const mine = std::get_if<Host>(&rule_)) {
    const auto* const theirs = std::get_if<Host>(&other.rule_);
    return theirs != nullptr && mine->name == theirs->name &&
           (!mine->port || mine->port == theirs->port);
  }
  if (const auto* const mine = std::get_if<Service>(&rule_)) {
    const auto* const theirs = std::get_if<Service>(&other.rule_);
    return theirs != nullptr && mine->name == theirs->name &&
           (!mine->partition || mine->partition == theirs->partition) &&
           (mine->node.empty() || mine->node == theirs->node);
  }
  // Coverage is certain only if the other path has no wildcard.
  const auto* const theirs = std::get_if<Path>(&other.rule_);
  return theirs != nullptr && theirs->pattern.find_first_of("*?[") == std::string::npos &&
         PathMatches(std::get<Path>(rule_).pattern, theirs->pattern);
}

bool ClassificationRule::Overlaps(const ClassificationRule& other) const {
  if (Covers(other) || other.Covers(*this)) return true;
  const auto ports_meet = [](const std::optional<uint16_t>& a, const std::optional<uint16_t>& b) {
    return !a || !b || *a == *b;
  };
  if (const auto* const mine = std::get_if<Peers>(&rule_)) {
    // The networks of a name are unknown before it is resolved.
    if (const auto* const host = std::get_if<Host>(&other.rule_)) {
      return mine->mask == 0 && ports_meet(mine->port, host->port);
    }
    const auto* const theirs = std::get_if<Peers>(&other.rule_);
    if (theirs == nullptr) return false;
    const uint32_t mask = mine->mask & theirs->mask;
    return (mine->address & mask) == (theirs->address & mask) &&
           ports_meet(mine->port, theirs->port);
  }
  if (const auto* const mine = std::get_if<Path>(&rule_)) {
    const auto* const theirs = std::get_if<Path>(&other.rule_);
    return theirs != nullptr && PatternsMeet(mine->pattern, theirs->pattern);
  }
  if (std::holds_alternative<Host>(rule_)) {  // equal names of hosts cover each other
    return std::holds_alternative<Peers>(other.rule_) && other.Overlaps(*this);
  }
  const auto* const mine = std::get_if<Service>(&rule_);
  const auto* const theirs = std::get_if<Service>(&other.rule_);
  if (mine == nullptr || theirs == nullptr) return false;
  return mine->name == theirs->name &&
         (!mine->partition || !theirs->partition || mine->partition == theirs->partition) &&
         (mine->node.empty() || theirs->node.empty() || mine->node == theirs->node);
}

}  // namespace neptune

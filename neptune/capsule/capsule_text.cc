#include "neptune/capsule/capsule_text.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"

namespace neptune {
namespace {

constexpr uint64_t kTimeMaxMs = 86'400'000;  // a day
constexpr std::string_view kNone = "none";

struct Token {
  enum class Kind { kWord, kText, kOpen, kClose, kEnd } kind = Kind::kEnd;
  std::string value;
  int line = 0;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : rest_(text) {}

  int line() const { return line_; }

  StatusOr<Token> Next() {
    SkipSpace();
    Token token{Token::Kind::kEnd, "", line_};
    if (rest_.empty()) return token;
    const char c = rest_.front();
    if (c == '"') return Text();
    if (c == '{' || c == '}') {
      rest_.remove_prefix(1);
      token.kind = c == '{' ? Token::Kind::kOpen : Token::Kind::kClose;
      return token;
    }
    const size_t size = std::min(rest_.size(), rest_.find_first_of(" \t\r\n\"{}"));
    token = {Token::Kind::kWord, std::string(rest_.substr(0, size)), line_};
    rest_.remove_prefix(size);
    return token;
  }

 private:
  void SkipSpace() {
    while (!rest_.empty()) {
      const char c = rest_.front();
      if (c == '#') {
        rest_.remove_prefix(std::min(rest_.size(), rest_.find('\n')));
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        if (c == '\n') ++line_;
        rest_.remove_prefix(1);
      } else {
        return;
      }
    }
  }

  StatusOr<Token> Text() {
    Token token{Token::Kind::kText, "", line_};
    rest_.remove_prefix(1);
    while (!rest_.empty() && rest_.front() != '"' && rest_.front() != '\n') {
      if (rest_.front() == '\\') {
        rest_.remove_prefix(1);
        if (rest_.empty() || (rest_.front() != '"' && rest_.front() != '\\')) {
          return InvalidArgument("expected '\"' or '\\' after '\\'");
        }
      }
      token.value.push_back(rest_.front());
      rest_.remove_prefix(1);
    }
    if (rest_.empty() || rest_.front() == '\n') return InvalidArgument("unterminated quoted text");
    rest_.remove_prefix(1);
    return token;
  }

  std::string_view rest_;
  int line_ = 1;
};

template <typename Number>
StatusOr<Number> ParseNumber(std::string_view text, Number min, Number max) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !(number >= min) ||
      !(number <= max)) {
    return InvalidArgument("'", text, "' is not a number from ", min, " to ", max);
  }
  return number;
}

// Milliseconds with up to six decimals, i.e. down to a nanosecond.
StatusOr<Duration> ParseMillis(std::string_view text) {
  const size_t dot = std::min(text.size(), text.find('.'));
  const std::string_view decimals = text.substr(std::min(text.size(), dot + 1));
  NEPTUNE_ASSIGN_OR_RETURN(const uint64_t whole,
                           ParseNumber<uint64_t>(text.substr(0, dot), 0, kTimeMaxMs));
  uint64_t ns = 0;
  if (dot < text.size()) {
    if (decimals.size() > 6) return InvalidArgument("'", text, "' has more than six decimals");
    std::string padded(decimals);
    padded.resize(6, '0');
    const bool digits_only =
        !decimals.empty() && decimals.find_first_not_of("0123456789") == std::string_view::npos;
    if (!digits_only) return InvalidArgument("'", text, "' is not a number of milliseconds");
    NEPTUNE_ASSIGN_OR_RETURN(ns, ParseNumber<uint64_t>(padded, 0, 999'999));
  }
  return Duration(static_cast<int64_t>(whole * 1'000'000 + ns));
}

StatusOr<PolicyKind> ParsePolicy(std::string_view name) {
  if (name == "fifo") return PolicyKind::kFifo;
  if (name == "round_robin") return PolicyKind::kRoundRobin;
  if (name == "priority") return PolicyKind::kPriority;
  if (name == "plugin") return PolicyKind::kPlugin;
  return InvalidArgument("'", name, "' is not fifo, round_robin, priority or plugin");
}

std::string_view NameOf(PolicyKind kind) {
  switch (kind) {
    case PolicyKind::kFifo:
      return "fifo";
    case PolicyKind::kRoundRobin:
      return "round_robin";
    case PolicyKind::kPriority:
      return "priority";
    case PolicyKind::kPlugin:
      return "plugin";
  }
  return "";
}

// A capsule while it is being parsed.
struct Draft {
  CapsuleConfig config;
  int line = 0;
  std::vector<int> rule_lines;
  std::set<std::string, std::less<>> fields;  // names of the fields read
};

using SetField = std::function<Status(const std::string& value, Draft* draft)>;

template <typename Member>
SetField Count(Member CapsuleConfig::*part_of, size_t Member::*member, size_t min) {
  return [=](const std::string& value, Draft* draft) -> Status {
    NEPTUNE_ASSIGN_OR_RETURN(draft->config.*part_of.*member,
                             ParseNumber<size_t>(value, min, kResidentCountMaxMax));
    return OkStatus();
  };
}
template <typename Member>
SetField Millis(Member CapsuleConfig::*part_of, Duration Member::*member) {
  return [=](const std::string& value, Draft* draft) -> Status {
    NEPTUNE_ASSIGN_OR_RETURN(draft->config.*part_of.*member, ParseMillis(value));
    return OkStatus();
  };
}
SetField PolicyText(std::string PolicyConfig::*member) {
  return [=](const std::string& value, Draft* draft) {
    draft->config.policy.*member = value;
    return OkStatus();
  };
}

Status AddRule(const std::string& value, Draft* draft) {
  NEPTUNE_ASSIGN_OR_RETURN(ClassificationRule rule, ClassificationRule::Parse(value));
  if (draft->config.rules.empty()) draft->config.type = rule.type();
  draft->config.rules.push_back(std::move(rule));
  return OkStatus();
}

struct Field {
  SetField set;
  bool repeated = false;  // may occur more than once
};

const std::map<std::string, Field, std::less<>>& Fields() {
  static const auto* const fields = new std::map<std::string, Field, std::less<>>{
      {"match", {AddRule, true}},
      {"resident_count_max",
       {Count(&CapsuleConfig::limits, &CapsuleLimits::resident_count_max, 1)}},
      {"throttle_count", {Count(&CapsuleConfig::limits, &CapsuleLimits::throttle_count, 0)}},
      {"timeout_ms", {[](const std::string& value, Draft* draft) -> Status {
         draft->config.limits.timeout = kNoTimeout;
         if (value == kNone) return OkStatus();
         return Millis(&CapsuleConfig::limits, &CapsuleLimits::timeout)(value, draft);
       }}},
      {"processing_count_max", {[](const std::string& value, Draft* draft) -> Status {
         NEPTUNE_ASSIGN_OR_RETURN(draft->config.processing_count_max,
                                  ParseNumber<size_t>(value, 0, kResidentCountMaxMax));
         return OkStatus();
       }}},
      {"low_watermark", {Count(&CapsuleConfig::feedback, &FeedbackOptions::low_watermark, 0)}},
      {"high_watermark", {Count(&CapsuleConfig::feedback, &FeedbackOptions::high_watermark, 0)}},
      {"failure_count_max",
       {Count(&CapsuleConfig::feedback, &FeedbackOptions::failure_count_max, 0)}},
      {"bypass_share", {[](const std::string& value, Draft* draft) -> Status {
         NEPTUNE_ASSIGN_OR_RETURN(draft->config.feedback.bypass_share,
                                  ParseNumber<double>(value, 0.0, 1.0));
         return OkStatus();
       }}},
      {"probe_interval_ms", {Millis(&CapsuleConfig::feedback, &FeedbackOptions::probe_interval)}},
      {"ramp_count", {Count(&CapsuleConfig::feedback, &FeedbackOptions::ramp_count, 1)}},
      {"ramp_period_ms", {Millis(&CapsuleConfig::feedback, &FeedbackOptions::ramp_period)}},
      {"ramp_length", {[](const std::string& value, Draft* draft) -> Status {
         NEPTUNE_ASSIGN_OR_RETURN(draft->config.feedback.ramp_length,
                                  ParseNumber<int>(value, 0, 30));
         return OkStatus();
       }}},
      {"policy", {[](const std::string& value, Draft* draft) -> Status {
         NEPTUNE_ASSIGN_OR_RETURN(draft->config.policy.kind, ParsePolicy(value));
         return OkStatus();
       }}},
      {"class",
       {[](const std::string& value, Draft* draft) {
          draft->config.policy.classes.push_back(value);
          return OkStatus();
        },
        true}},
      {"library", {PolicyText(&PolicyConfig::library)}},
      {"parameters", {PolicyText(&PolicyConfig::parameters)}},
      {"migrate_to", {[](const std::string& value, Draft* draft) {
         draft->config.migrate_to = value;
         return OkStatus();
       }}},
  };
  return *fields;
}

Draft DraftOf(const std::string& name) {
  Draft draft;
  if (name == kDefaultCapsule) draft.config = DefaultCapsuleConfig();
  draft.config.name = name;
  return draft;
}

Status SetFieldOf(Draft* draft, const std::string& name, const std::string& value) {
  const auto field = Fields().find(name);
  if (field == Fields().end()) return InvalidArgument("unknown capsule field '", name, "'");
  if (!draft->fields.insert(name).second && !field->second.repeated) {
    return InvalidArgument(name, " is set twice");
  }
  return Annotate(field->second.set(value, draft), name);
}

// Resolves the path of a plug-in and checks the whole.
Status Complete(const std::string& folder, CapsuleConfig* config) {
  std::string& library = config->policy.library;
  if (!library.empty() && !library.starts_with('/') && !folder.empty()) {
    library = (std::filesystem::path(folder) / library).string();
  }
  return CheckCapsuleConfig(*config);
}

class Parser {
 public:
  Parser(std::string_view text, const CapsuleSource& source) : lexer_(text), source_(source) {}

  Status Parse() {
    while (true) {
      NEPTUNE_ASSIGN_OR_RETURN(const Token token, Next());
      if (token.kind == Token::Kind::kEnd) return OkStatus();
      if (token.kind != Token::Kind::kWord || token.value != "capsule") {
        return At(token.line, InvalidArgument("expected 'capsule NAME {'"));
      }
      NEPTUNE_RETURN_IF_ERROR(ParseCapsule());
    }
  }

  std::vector<Draft>& drafts() { return drafts_; }
  Status At(int line, const Status& status) const {
    return Annotate(status, StrCat(source_.file, ":", line));
  }

 private:
  StatusOr<Token> Next() {
    StatusOr<Token> token = lexer_.Next();
    if (!token.ok()) return At(lexer_.line(), token.status());
    return token;
  }

  Status ParseCapsule() {
    NEPTUNE_ASSIGN_OR_RETURN(const Token name, Next());
    if (name.kind != Token::Kind::kWord && name.kind != Token::Kind::kText) {
      return At(name.line, InvalidArgument("expected a capsule name"));
    }
    if (drafts_.size() == kCapsuleCountMax) {
      return At(name.line, InvalidArgument("more than ", kCapsuleCountMax, " capsules"));
    }
    if (!names_.insert(name.value).second) {
      return At(name.line, InvalidArgument("capsule '", name.value, "' is defined twice"));
    }
    Draft draft = DraftOf(name.value);
    draft.line = name.line;
    NEPTUNE_ASSIGN_OR_RETURN(const Token open, Next());
    if (open.kind != Token::Kind::kOpen) {
      return At(open.line,
                InvalidArgument("expected '{' after the name of capsule '", name.value, "'"));
    }
    NEPTUNE_RETURN_IF_ERROR(ParseFields(&draft));
    NEPTUNE_RETURN_IF_ERROR(At(draft.line, Complete(source_.folder, &draft.config)));
    drafts_.push_back(std::move(draft));
    return OkStatus();
  }

  Status ParseFields(Draft* draft) {
    while (true) {
      NEPTUNE_ASSIGN_OR_RETURN(Token token, Next());
      if (token.kind == Token::Kind::kClose) return OkStatus();
      if (token.kind == Token::Kind::kEnd) {
        return At(draft->line,
                  InvalidArgument("capsule '", draft->config.name, "' has no closing '}'"));
      }
      if (token.kind != Token::Kind::kWord) {
        return At(token.line, InvalidArgument("expected 'field: value'"));
      }
      NEPTUNE_RETURN_IF_ERROR(ParseField(token, draft));
    }
  }

  // Reads "field:" and its value, which may follow without a space.
  Status ParseField(const Token& token, Draft* draft) {
    const size_t colon = token.value.find(':');
    if (colon == std::string::npos) {
      return At(token.line, InvalidArgument("expected ':' after '", token.value, "'"));
    }
    const std::string name = token.value.substr(0, colon);
    std::string value = token.value.substr(colon + 1);
    if (!Fields().contains(name)) {
      return At(token.line, InvalidArgument("unknown capsule field '", name, "'"));
    }
    if (value.empty()) {
      NEPTUNE_ASSIGN_OR_RETURN(const Token next, Next());
      if (next.kind != Token::Kind::kWord && next.kind != Token::Kind::kText) {
        return At(token.line, InvalidArgument(name, " has no value"));
      }
      value = next.value;
    }
    NEPTUNE_RETURN_IF_ERROR(At(token.line, SetFieldOf(draft, name, value)));
    if (name == "match") draft->rule_lines.push_back(token.line);
    return OkStatus();
  }

  Lexer lexer_;
  const CapsuleSource& source_;
  std::vector<Draft> drafts_;
  std::set<std::string, std::less<>> names_;
};

std::string Quoted(std::string_view value) {
  const bool is_word =
      !value.empty() && value.find_first_of(" \t\r\n\"{}\\#") == std::string_view::npos;
  if (is_word) return std::string(value);
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') quoted.push_back('\\');
    quoted.push_back(c);
  }
  return quoted + "\"";
}

std::string MillisText(Duration duration) {
  if (duration == kNoTimeout) return std::string(kNone);
  std::string text = StrCat(duration.count() / 1'000'000);
  const std::string ns = StrCat(duration.count() % 1'000'000);
  if (ns == "0") return text;
  std::string decimals = std::string(6 - ns.size(), '0') + ns;
  decimals.erase(decimals.find_last_not_of('0') + 1);
  return StrCat(text, ".", decimals);
}

std::string ShareText(double share) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), share);
  return std::string(buffer, end);
}

}  // namespace

StatusOr<std::vector<CapsuleConfig>> ParseCapsules(std::string_view text,
                                                   const CapsuleSource& source,
                                                   std::vector<std::string>* warnings) {
  Parser parser(text, source);
  if (text.size() > kCapsuleTextSizeMax) {
    return parser.At(
        1, InvalidArgument("text of ", text.size(), " bytes exceeds ", kCapsuleTextSizeMax));
  }
  NEPTUNE_RETURN_IF_ERROR(parser.Parse());
  std::vector<CapsuleConfig> configs;
  for (Draft& draft : parser.drafts()) configs.push_back(std::move(draft.config));
  if (warnings != nullptr) {
    for (const RuleConflict& conflict : RuleConflicts(configs)) {
      const int line = parser.drafts()[conflict.capsule].rule_lines[conflict.rule];
      warnings->push_back(StrCat(source.file, ":", line, ": ", conflict.text));
    }
  }
  return configs;
}

StatusOr<std::vector<CapsuleConfig>> LoadCapsuleFile(const std::string& path,
                                                     std::vector<std::string>* warnings) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kCapsuleTextSizeMax));
  return ParseCapsules(text, {path, std::filesystem::absolute(path).parent_path().string()},
                       warnings);
}

StatusOr<CapsuleConfig> CapsuleOfFields(const std::string& name,
                                        const std::vector<CapsuleField>& fields,
                                        const std::string& folder) {
  Draft draft = DraftOf(name);
  for (const CapsuleField& field : fields) {
    NEPTUNE_RETURN_IF_ERROR(SetFieldOf(&draft, field.name, field.value));
  }
  NEPTUNE_RETURN_IF_ERROR(Complete(folder, &draft.config));
  return std::move(draft.config);
}

std::string FormatCapsule(const CapsuleConfig& config) {
  std::string text = StrCat("capsule ", config.name, " {\n");
  const auto add = [&](std::string_view field, const auto& value) {
    StrAppend(&text, "  ", field, ": ", value, "\n");
  };
  for (const ClassificationRule& rule : config.rules) add("match", Quoted(rule.text()));
  add("resident_count_max", config.limits.resident_count_max);
  add("processing_count_max", config.processing_count_max);
  add("timeout_ms", MillisText(config.limits.timeout));
  add("throttle_count", config.limits.throttle_count);
  const FeedbackOptions& feedback = config.feedback;
  add("low_watermark", feedback.low_watermark);
  add("high_watermark", feedback.high_watermark);
  add("failure_count_max", feedback.failure_count_max);
  add("bypass_share", ShareText(feedback.bypass_share));
  add("probe_interval_ms", MillisText(feedback.probe_interval));
  add("ramp_count", feedback.ramp_count);
  add("ramp_period_ms", MillisText(feedback.ramp_period));
  add("ramp_length", feedback.ramp_length);
  add("policy", NameOf(config.policy.kind));
  for (const std::string& name : config.policy.classes) add("class", Quoted(name));
  if (!config.policy.library.empty()) add("library", Quoted(config.policy.library));
  if (!config.policy.parameters.empty()) add("parameters", Quoted(config.policy.parameters));
  if (!config.migrate_to.empty()) add("migrate_to", config.migrate_to);
  return text + "}\n";
}

}  // namespace neptune

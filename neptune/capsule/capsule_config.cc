#include "neptune/capsule/capsule_config.h"

#include <algorithm>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

Status CheckName(std::string_view what, std::string_view name) {
  if (name.empty()) return InvalidArgument(what, " has no name");
  if (name.size() > kCapsuleNameSizeMax) {
    return InvalidArgument(what, " name '", name, "' is longer than ", kCapsuleNameSizeMax,
                           " bytes");
  }
  const bool fits = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
  if (!fits) {
    return InvalidArgument(what, " name '", name,
                           "' may contain only letters, digits, '-', '_' and '.'");
  }
  return OkStatus();
}

Status CheckRules(const CapsuleConfig& config) {
  if (config.name == kDefaultCapsule) {
    if (!config.rules.empty() || config.type != ResourceType::kNetwork) {
      return InvalidArgument(
          "it takes every network operation that no other capsule takes and cannot have rules");
    }
    return OkStatus();
  }
  if (config.rules.empty()) return InvalidArgument("it has no match rule");
  if (config.rules.size() > kCapsuleRuleCountMax) {
    return InvalidArgument("it has ", config.rules.size(), " rules; at most ",
                           kCapsuleRuleCountMax);
  }
  for (const ClassificationRule& rule : config.rules) {
    if (rule.type() != config.type) {
      return InvalidArgument("rule '", rule.text(), "' has a different type than its capsule");
    }
  }
  return OkStatus();
}

Status CheckLimits(const CapsuleConfig& config) {
  const CapsuleLimits& limits = config.limits;
  if (limits.resident_count_max == 0 || limits.resident_count_max > kResidentCountMaxMax) {
    return InvalidArgument("resident_count_max is ", limits.resident_count_max, ", not 1 to ",
                           kResidentCountMaxMax);
  }
  if (limits.timeout <= Duration(0)) return InvalidArgument("timeout must be greater than 0");
  if (limits.throttle_count > limits.resident_count_max) {
    return InvalidArgument("throttle_count ", limits.throttle_count, " exceeds resident_count_max ",
                           limits.resident_count_max);
  }
  if (config.type == ResourceType::kDevice &&
      config.processing_count_max > kDeviceProcessingCountMax) {
    return InvalidArgument("processing_count_max is ", config.processing_count_max,
                           ", but a device capsule has at most ", kDeviceProcessingCountMax,
                           " helper threads");
  }
  return OkStatus();
}

Status CheckFeedback(const CapsuleConfig& config) {
  const FeedbackOptions& feedback = config.feedback;
  if (feedback.low_watermark > 0 || feedback.high_watermark > 0) {
    if (feedback.high_watermark <= feedback.low_watermark) {
      return InvalidArgument("high_watermark ", feedback.high_watermark,
                             " is not greater than low_watermark ", feedback.low_watermark);
    }
    if (config.limits.timeout == kNoTimeout) {
      return InvalidArgument("watermarks need a timeout, and timeout_ms is none");
    }
  }
  if (!(feedback.bypass_share >= 0 && feedback.bypass_share <= 1)) {
    return InvalidArgument("bypass_share must be from 0 to 1");
  }
  if (feedback.probe_interval <= Duration(0) || feedback.ramp_period <= Duration(0)) {
    return InvalidArgument("probe_interval and ramp_period must be greater than 0");
  }
  if (feedback.ramp_count == 0 || feedback.ramp_length < 0 || feedback.ramp_length > 30) {
    return InvalidArgument("ramp_count must be at least 1, ramp_length from 0 to 30");
  }
  return OkStatus();
}

}  // namespace

Status CheckCapsuleConfig(const CapsuleConfig& config) {
  NEPTUNE_RETURN_IF_ERROR(CheckName("a capsule", config.name));
  const auto check = [&]() -> Status {
    NEPTUNE_RETURN_IF_ERROR(CheckRules(config));
    NEPTUNE_RETURN_IF_ERROR(CheckLimits(config));
    NEPTUNE_RETURN_IF_ERROR(CheckFeedback(config));
    if (config.policy.kind == PolicyKind::kPriority && config.policy.classes.empty()) {
      return InvalidArgument("policy priority needs at least one class");
    }
    if ((config.policy.kind == PolicyKind::kPlugin) == config.policy.library.empty()) {
      return InvalidArgument("policy plugin needs a library; other policies cannot have one");
    }
    if (config.migrate_to == config.name) return InvalidArgument("it migrates to itself");
    if (!config.migrate_to.empty()) return CheckName("migrate_to", config.migrate_to);
    return OkStatus();
  };
  return Annotate(check(), StrCat("capsule '", config.name, "'"));
}

CapsuleConfig DefaultCapsuleConfig() {
  CapsuleConfig config;
  config.name = std::string(kDefaultCapsule);
  config.limits = {.resident_count_max = 100'000, .timeout = kNoTimeout};
  return config;
}

std::vector<RuleConflict> RuleConflicts(const std::vector<CapsuleConfig>& stack) {
  struct Above {
    const ClassificationRule* rule;
    size_t capsule;
  };
  std::vector<Above> above;
  std::vector<RuleConflict> conflicts;
  for (size_t c = 0; c < stack.size(); ++c) {
    for (size_t r = 0; r < stack[c].rules.size(); ++r) {
      const ClassificationRule& rule = stack[c].rules[r];
      const auto report = [&](std::string_view what, const Above& upper) {
        conflicts.push_back({c, r, upper.capsule,
                             StrCat("capsule '", stack[c].name, "': rule '", rule.text(), "' ",
                                    what, " '", upper.rule->text(), "' of capsule '",
                                    stack[upper.capsule].name, "' above it")});
      };
      const auto covers = [&](const Above& upper) { return upper.rule->Covers(rule); };
      const auto shares = [&](const Above& upper) {
        return upper.capsule != c && upper.rule->Overlaps(rule) && !rule.Covers(*upper.rule);
      };
      if (const auto by = std::find_if(above.begin(), above.end(), covers); by != above.end()) {
        report("is shadowed by", *by);
      } else if (const auto with = std::find_if(above.begin(), above.end(), shares);
                 with != above.end()) {
        report("overlaps", *with);
      }
      above.push_back({&rule, c});
    }
  }
  return conflicts;
}

}  // namespace neptune

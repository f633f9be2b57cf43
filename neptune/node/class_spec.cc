#include "neptune/node/class_spec.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <utility>

#include "neptune/base/same_secret.h"
#include "neptune/base/strings.h"

namespace neptune {
namespace {

constexpr uint32_t kYieldDeadlineMs = 2'000;
// Name of the only class if the spec has none.
constexpr char kOnlyClass[] = "default";
// A day; longer response times are considered mistakes.
constexpr double kYieldMillisMax = 86'400'000;

Duration FromMillis(double millis) { return FromSeconds(millis / 1e3); }

StatusOr<YieldFunction> YieldOf(const YieldSpec& spec) {
  if (spec.form() == "table") {
    std::vector<YieldPoint> points;
    for (const YieldPointSpec& point : spec.points()) {
      if (!(point.response_ms() >= 0 && point.response_ms() <= kYieldMillisMax)) {
        return InvalidArgument("response_ms is ", point.response_ms(), ", not from 0 to ",
                               kYieldMillisMax);
      }
      points.push_back({FromMillis(point.response_ms()), point.yield()});
    }
    return YieldFunction::Table(std::move(points));
  }
  if (!spec.points().empty()) return InvalidArgument("points are valid for the form table only");
  const double full = spec.full() == 0 ? 1 : spec.full();
  const uint32_t deadline_ms = spec.deadline_ms() == 0 ? kYieldDeadlineMs : spec.deadline_ms();
  const Duration deadline = FromMillis(deadline_ms);
  if (spec.form() == "throughput") return YieldFunction::Throughput(full, deadline);
  if (spec.form() == "resptime") return YieldFunction::ResponseTime(full, deadline);
  if (spec.form() == "hybrid") {
    const Duration full_until =
        spec.full_until_ms() == 0 ? deadline / 2 : FromMillis(spec.full_until_ms());
    return YieldFunction::Hybrid(full, full_until, spec.at_deadline(), deadline);
  }
  return InvalidArgument("unknown form '", spec.form(),
                         "'; expected throughput, resptime, hybrid or table");
}

// Checks the characters that the frontend accepts in a class name from a client.
Status CheckClassName(const std::string& name) {
  const bool is_plain = std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
  });
  if (!name.empty() && name.size() <= kServiceClassNameSizeMax && is_plain) return OkStatus();
  return InvalidArgument("invalid service class name '", name, "': expected 1 to ",
                         kServiceClassNameSizeMax, " letters, digits, '-' and '_'");
}

Status CheckApiKey(const std::string& key) {
  const bool is_plain =
      std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c < 127; });
  if (key.size() >= kApiKeySizeMin && key.size() <= kApiKeySizeMax && is_plain) return OkStatus();
  return InvalidArgument("an API key has ", kApiKeySizeMin, " to ", kApiKeySizeMax,
                         " printable characters, none of them a space");
}

Status CheckApiKeyHash(const std::string& hash) {
  const bool is_hex = std::all_of(hash.begin(), hash.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
  if (hash.size() == kApiKeyHashSize && is_hex) return OkStatus();
  return InvalidArgument("an api_key_sha256 has ", kApiKeyHashSize,
                         " hexadecimal digits in lower case");
}

std::vector<std::string> HashesOf(const ServiceClassSpec& spec) {
  std::vector<std::string> hashes(spec.api_key_sha256().begin(), spec.api_key_sha256().end());
  for (const std::string& key : spec.api_keys()) hashes.push_back(ApiKeyHash(key));
  return hashes;
}

std::optional<ClassNumber> FindClass(const ClusterSpec& spec, std::string_view name) {
  for (int i = 0; i < spec.service_classes_size(); ++i) {
    if (spec.service_classes(i).name() == name) return static_cast<ClassNumber>(i);
  }
  return std::nullopt;
}

StatusOr<ClassNumber> ClassNamed(const ClusterSpec& spec, std::string_view name) {
  const std::optional<ClassNumber> found = FindClass(spec, name);
  if (found) return *found;
  return InvalidArgument("'", name, "' is not a service class of the cluster");
}

// Converts the part that does not depend on a service.
std::vector<ServiceClassOptions> ClassesOf(const ClusterSpec& spec) {
  std::vector<ServiceClassOptions> classes;
  for (const ServiceClassSpec& one : spec.service_classes()) {
    ServiceClassOptions options;
    options.name = one.name();
    if (one.has_yield()) options.yield = YieldOf(one.yield()).value();
    options.guarantee = one.guarantee();
    if (one.queue_length_max() != 0) options.queue_length_max = one.queue_length_max();
    classes.push_back(std::move(options));
  }
  if (classes.empty()) classes.push_back({.name = kOnlyClass});
  return classes;
}

Status CheckThreads(const ClusterSpec& spec, const ServiceSpec& service) {
  std::set<std::string> seen;
  for (const ClassThreadsSpec& threads : service.threads()) {
    NEPTUNE_RETURN_IF_ERROR(ClassNamed(spec, threads.service_class()).status());
    if (!seen.insert(threads.service_class()).second) {
      return InvalidArgument("duplicate class '", threads.service_class(), "'");
    }
  }
  return CheckThreadShares(ThreadSharesOf(spec, service), ClassesOf(spec).size());
}

Status CheckRules(const ClusterSpec& spec, const ServiceSpec& service) {
  for (const ClassRuleSpec& rule : service.class_rules()) {
    NEPTUNE_RETURN_IF_ERROR(ClassNamed(spec, rule.service_class()).status());
    for (const uint32_t partition : rule.partitions()) {
      if (partition >= service.partition_count()) {
        return InvalidArgument("partition ", partition, "; the service has ",
                               service.partition_count());
      }
    }
  }
  return OkStatus();
}

}  // namespace

Status CompleteServiceClasses(ClusterSpec* spec) {
  std::set<std::string> hashes;
  for (const ServiceClassSpec& one : spec->service_classes()) {
    const std::string where = StrCat("service class '", one.name(), "'");
    NEPTUNE_RETURN_IF_ERROR(CheckClassName(one.name()));
    if (one.has_yield()) {
      NEPTUNE_RETURN_IF_ERROR(Annotate(YieldOf(one.yield()).status(), where + ": yield"));
    }
    for (const std::string& key : one.api_keys()) {
      NEPTUNE_RETURN_IF_ERROR(Annotate(CheckApiKey(key), where));
    }
    for (const std::string& hash : one.api_key_sha256()) {
      NEPTUNE_RETURN_IF_ERROR(Annotate(CheckApiKeyHash(hash), where));
    }
    for (std::string& hash : HashesOf(one)) {
      if (!hashes.insert(std::move(hash)).second) {
        return InvalidArgument(where, ": duplicate API key");
      }
    }
  }
  NEPTUNE_RETURN_IF_ERROR(CheckSchedulerOptions({.classes = ClassesOf(*spec)}));
  if (spec->default_service_class().empty()) {
    if (!spec->service_classes().empty()) {
      spec->set_default_service_class(spec->service_classes().rbegin()->name());
    }
    return OkStatus();
  }
  return Annotate(ClassNamed(*spec, spec->default_service_class()).status(),
                  "default_service_class");
}

Status CheckServiceScheduling(const ClusterSpec& spec, const ServiceSpec& service) {
  if (!service.scheduling().empty()) {
    NEPTUNE_RETURN_IF_ERROR(ParseSchedulingPolicy(service.scheduling()).status());
  }
  NEPTUNE_RETURN_IF_ERROR(Annotate(CheckThreads(spec, service), "threads"));
  NEPTUNE_RETURN_IF_ERROR(Annotate(CheckRules(spec, service), "class_rules"));
  return CheckSchedulerOptions(SchedulerOptionsOf(spec, service, 1));
}

SchedulerOptions SchedulerOptionsOf(const ClusterSpec& spec, const ServiceSpec& service,
                                    double processor_count) {
  SchedulerOptions options;
  options.classes = ClassesOf(spec);
  for (size_t i = 0; i < options.classes.size(); ++i) {
    const bool own = !spec.service_classes().empty() &&
                     spec.service_classes(static_cast<int>(i)).queue_length_max() != 0;
    if (!own) options.classes[i].queue_length_max = service.queue_length_max();
  }
  options.default_class = FindClass(spec, spec.default_service_class()).value_or(0);
  const bool classless = spec.service_classes().empty();
  options.policy = classless ? SchedulingPolicy::kFifo : SchedulingPolicy::kAdaptive;
  if (!service.scheduling().empty()) {
    options.policy = ParseSchedulingPolicy(service.scheduling()).value();
  }
  options.capacity = processor_count;
  if (classless && service.scheduling().empty()) {
    options.drop_share.reset();
  } else {
    options.drop_share = service.drop_share();
  }
  if (service.wait_share_max() != 0) options.wait_share_max = service.wait_share_max();
  return options;
}

ThreadShares ThreadSharesOf(const ClusterSpec& spec, const ServiceSpec& service) {
  ThreadShares shares{.all = service.concurrency()};
  shares.own.resize(ClassesOf(spec).size());
  for (const ClassThreadsSpec& threads : service.threads()) {
    shares.own[*FindClass(spec, threads.service_class())] = threads.count();
  }
  return shares;
}

std::vector<ClassRule> ClassRulesOf(const ClusterSpec& spec, const ServiceSpec& service) {
  std::vector<ClassRule> rules;
  for (const ClassRuleSpec& rule : service.class_rules()) {
    rules.push_back({.service_class = *FindClass(spec, rule.service_class()),
                     .method = rule.method(),
                     .partitions = {},
                     .always = rule.always()});
    for (const uint32_t partition : rule.partitions()) {
      rules.back().partitions.emplace_back(partition);
    }
  }
  return rules;
}

std::map<std::string, std::string> ClassesOfApiKeyHashes(const ClusterSpec& spec) {
  std::map<std::string, std::string> classes;
  for (const ServiceClassSpec& one : spec.service_classes()) {
    for (std::string& hash : HashesOf(one)) classes[std::move(hash)] = one.name();
  }
  return classes;
}

}  // namespace neptune

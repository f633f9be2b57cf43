#include "cache/service/cache_module.h"

#include <filesystem>

#include "cache/cache.pb.h"
#include "cache/cache_service.h"
#include "cache/eviction/registry.h"
#include "cache/registry.h"
#include "neptune/base/secret_file.h"
#include "neptune/base/strings.h"
#include "neptune/capsule/device_call.h"
#include "neptune/service/client.h"
#include "neptune/service/parameter_table.h"
#include "neptune/world/random_source.h"

namespace search::cache {

using neptune::Data;
using neptune::ModuleContext;
using neptune::PartitionId;
using neptune::RequestContext;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

namespace {

constexpr uint64_t kSizeMaxMb = 64 * 1024;
constexpr neptune::Duration kTimeoutMax = std::chrono::minutes(1);
// An entry without a lifetime is valid as long as its index version.
constexpr neptune::Duration kUnlimited = std::chrono::hours(24 * 365);

}  // namespace

void CacheModule::DeclareParameters(neptune::ParameterTable& table) {
  table.Choice("implementation", ResultCacheNames(), &parameters_.implementation,
               "variant of cache/registry.h");
  table.Whole("size_mb", {1, kSizeMaxMb}, &parameters_.size_mb,
              "maximum size of a partition in MiB");
  table.Text("server", &parameters_.server, "HOST:PORT of the server, for variants that use one");
  table.Text("server_user", &parameters_.server_user,
             "user of the server; default: the server's default user");
  table.Text("server_password_file", &parameters_.server_password_file,
             "file with the password that the server demands, readable by its owner only");
  table.Millis("server_timeout_ms", {std::chrono::milliseconds(1), kTimeoutMax},
               &parameters_.server_timeout, "timeout for connecting and for each part of a reply");
  table.Text("key_prefix", &parameters_.key_prefix,
             "prefix of the keys before the partition's number; default: the service's name");
  table.Choice("policy", neptune::NamesOf(RegisteredEvictionPolicies()), &parameters_.policy,
               "eviction policy of the variant memory, of cache/eviction/registry.h");
}

Status CacheModule::Start(ModuleContext& context) {
  NEPTUNE_RETURN_IF_ERROR(MakeCaches(context));
  NEPTUNE_RETURN_IF_ERROR(MakeCapsule(context));
  context.registrar.Method(neptune::MethodName(kLookupMethod), {},
                           [this](RequestContext& request, const Data& in, Data* out) {
                             return Lookup(request, in, out);
                           });
  context.registrar.Method(neptune::MethodName(kInsertMethod),
                           {.access = neptune::AccessMode::kWrite, .stateless = false},
                           [this](RequestContext& request, const Data& in, Data* out) {
                             return Insert(request, in, out);
                           });
  return AddMetrics(context);
}

Status CacheModule::MakeCaches(const ModuleContext& context) {
  ResultCacheOptions options;
  options.hash_seed = neptune::Loop::Current()->random().Next();
  options.size_max = parameters_.size_mb << 20;
  options.policy = parameters_.policy;
  options.server = parameters_.server;
  options.server_timeout = parameters_.server_timeout;
  options.server_user = parameters_.server_user;
  if (!parameters_.server_password_file.empty()) {
    const std::filesystem::path path =
        std::filesystem::path(context.base_directory) / parameters_.server_password_file;
    NEPTUNE_ASSIGN_OR_RETURN(options.server_password, neptune::LoadSecret(path.string()));
  }
  if (context.derive_secrets != nullptr) {
    options.seal_secrets = context.derive_secrets("cache entries");
  }
  const std::string prefix = parameters_.key_prefix.value_or(StrCat(context.service));
  for (const PartitionId& partition : context.partitions) {
    options.key_prefix = StrCat(prefix, ":", partition);
    NEPTUNE_ASSIGN_OR_RETURN(partitions_[partition],
                             MakeResultCache(parameters_.implementation, options));
  }
  return neptune::OkStatus();
}

Status CacheModule::MakeCapsule(ModuleContext& context) {
  if (partitions_.empty() || !partitions_.begin()->second->Waits()) return neptune::OkStatus();
  capsules_ = &context.client.capsules();
  const std::string name = StrCat(context.service, "-server");
  server_path_ = StrCat("/", name, "/", parameters_.implementation);
  return neptune::MakeDeviceCapsule(*capsules_, name, StrCat("/", name));
}

template <typename Ask>
auto CacheModule::AskCache(RequestContext& context, Ask ask)
    -> decltype(ask(std::declval<ResultCache&>())) {
  const std::shared_ptr<ResultCache>& cache = partitions_.at(context.partition());
  if (capsules_ == nullptr) return ask(*cache);
  return neptune::RunOnDevice(*capsules_, server_path_,
                              [cache, ask = std::move(ask)] { return ask(*cache); },
                              {.deadline = context.deadline(),
                               .caller = context.origin().handler,
                               .service_class = context.service_class()});
}

Status CacheModule::Lookup(RequestContext& context, const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const LookupRequest* const asked, request.As<LookupRequest>());
  const auto look_up = [asked = *asked, now = context.Now()](ResultCache& cache) {
    return cache.Lookup({.query = asked.key(), .index_version = asked.index_version()}, now);
  };
  NEPTUNE_ASSIGN_OR_RETURN(const std::optional<CachedResult> found, AskCache(context, look_up));
  LookupResponse answer;
  answer.set_implementation(parameters_.implementation);
  answer.set_found(found.has_value());
  if (found) {
    answer.set_value(*found->value);
    answer.set_age_ms(static_cast<uint32_t>(neptune::ToMillis(found->age)));
    answer.set_cost_us(static_cast<uint32_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(found->cost).count()));
  }
  *response = Data::Of(std::move(answer));
  return neptune::OkStatus();
}

Status CacheModule::Insert(RequestContext& context, const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const InsertRequest* const asked, request.As<InsertRequest>());
  const neptune::Duration time_to_live = asked->time_to_live_ms() == 0
                                             ? kUnlimited
                                             : std::chrono::milliseconds(asked->time_to_live_ms());
  const auto insert = [asked = *asked, time_to_live, now = context.Now()](ResultCache& cache) {
    return cache.Insert({.query = asked.key(), .index_version = asked.index_version()},
                        {asked.value(), time_to_live, std::chrono::microseconds(asked.cost_us())},
                        now);
  };
  NEPTUNE_ASSIGN_OR_RETURN(const bool stored, AskCache(context, insert));
  InsertResponse answer;
  answer.set_stored(stored);
  *response = Data::Of(std::move(answer));
  return neptune::OkStatus();
}

Status CacheModule::AddMetrics(ModuleContext& context) {
  using Field = uint64_t ResultCacheStats::*;
  constexpr auto kCounter = &neptune::MetricsRegistry::AddCallbackCounter;
  constexpr auto kGauge = &neptune::MetricsRegistry::AddCallbackGauge;
  const std::vector<std::tuple<decltype(kGauge), const char*, const char*, Field>> fields = {
      {kCounter, "search_cache_hits_total", "Lookups that found a value.",
       &ResultCacheStats::hit_count},
      {kCounter, "search_cache_misses_total", "Lookups that found no value.",
       &ResultCacheStats::miss_count},
      {kCounter, "search_cache_evictions_total", "Values evicted to make room.",
       &ResultCacheStats::eviction_count},
      {kGauge, "search_cache_entries", "Values in the cache.", &ResultCacheStats::entry_count},
      {kGauge, "search_cache_size_bytes", "Bytes in the cache.", &ResultCacheStats::size},
  };
  for (const auto& [add, name, help, field] : fields) {
    for (const auto& [partition, cache] : partitions_) {
      NEPTUNE_ASSIGN_OR_RETURN(
          auto series,
          (context.metrics.*add)(
              name, help, {{"service", StrCat(context.service)}, {"partition", StrCat(partition)}},
              [cache = cache.get(), field = field] {
                return static_cast<double>(cache->Stats().*field);
              }));
      gauges_.push_back(std::move(series));
    }
  }
  NEPTUNE_ASSIGN_OR_RETURN(
      section_, context.status.Add(StrCat("cache ", context.service), [this](auto* report) {
        neptune::StatusTable table{
            "Partitions",
            {"partition", "implementation", "entries", "bytes", "hits", "misses"},
            {}};
        for (const auto& [id, cache] : partitions_) {
          const ResultCacheStats stats = cache->Stats();
          table.AddRow(id.value(), parameters_.implementation, stats.entry_count, stats.size,
                       stats.hit_count, stats.miss_count);
        }
        report->tables.push_back(std::move(table));
      }));
  return neptune::OkStatus();
}

}  // namespace search::cache

#include "cache/service/cache_module.h"

#include <charconv>

#include "cache/cache.pb.h"
#include "cache/cache_service.h"
#include "cache/registry.h"
#include "neptune/base/strings.h"
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
// An entry without a lifetime of its own is as good as its index version.
constexpr neptune::Duration kUnlimited = std::chrono::hours(24 * 365);

StatusOr<ResultCacheOptions> ReadOptions(const ModuleContext& context) {
  ResultCacheOptions options;
  options.hash_seed = neptune::Loop::Current()->random().Next();
  const auto size = context.parameters.find("size_mb");
  if (size == context.parameters.end()) return options;
  const std::string& text = size->second;
  uint64_t megabytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), megabytes);
  if (error != std::errc() || end != text.data() + text.size() || megabytes == 0 ||
      megabytes > kSizeMaxMb) {
    return neptune::InvalidArgument("parameter size_mb '", text, "' is not 1 to ", kSizeMaxMb);
  }
  options.size_max = megabytes << 20;
  return options;
}

}  // namespace

Status CacheModule::Start(ModuleContext& context) {
  if (const auto chosen = context.parameters.find("implementation");
      chosen != context.parameters.end()) {
    implementation_ = chosen->second;
  }
  NEPTUNE_ASSIGN_OR_RETURN(const ResultCacheOptions options, ReadOptions(context));
  for (const PartitionId& partition : context.partitions) {
    NEPTUNE_ASSIGN_OR_RETURN(partitions_[partition], MakeResultCache(implementation_, options));
  }
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

Status CacheModule::Lookup(RequestContext& context, const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const LookupRequest* const asked, request.As<LookupRequest>());
  ResultCache& cache = *partitions_.at(context.partition());
  NEPTUNE_ASSIGN_OR_RETURN(
      const std::optional<CachedResult> found,
      cache.Lookup({.query = asked->key(), .index_version = asked->index_version()},
                   context.Now()));
  LookupResponse answer;
  answer.set_implementation(implementation_);
  answer.set_found(found.has_value());
  if (found) {
    answer.set_value(*found->value);
    answer.set_age_ms(static_cast<uint32_t>(neptune::ToMillis(found->age)));
  }
  *response = Data::Of(std::move(answer));
  return neptune::OkStatus();
}

Status CacheModule::Insert(RequestContext& context, const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const InsertRequest* const asked, request.As<InsertRequest>());
  ResultCache& cache = *partitions_.at(context.partition());
  CacheValue value;
  value.value = asked->value();
  value.time_to_live = asked->time_to_live_ms() == 0
                           ? kUnlimited
                           : std::chrono::milliseconds(asked->time_to_live_ms());
  NEPTUNE_ASSIGN_OR_RETURN(
      const bool stored,
      cache.Insert({.query = asked->key(), .index_version = asked->index_version()},
                   std::move(value), context.Now()));
  InsertResponse answer;
  answer.set_stored(stored);
  *response = Data::Of(std::move(answer));
  return neptune::OkStatus();
}

Status CacheModule::AddMetrics(ModuleContext& context) {
  using Field = uint64_t ResultCacheStats::*;
  const std::vector<std::tuple<const char*, const char*, Field>> fields = {
      {"search_cache_hits", "Lookups that found a value.", &ResultCacheStats::hit_count},
      {"search_cache_misses", "Lookups that found none.", &ResultCacheStats::miss_count},
      {"search_cache_evictions", "Values pushed out for room.", &ResultCacheStats::eviction_count},
      {"search_cache_entries", "Values held.", &ResultCacheStats::entry_count},
      {"search_cache_size_bytes", "Bytes held.", &ResultCacheStats::size},
  };
  for (const auto& [name, help, field] : fields) {
    for (const auto& [partition, cache] : partitions_) {
      NEPTUNE_ASSIGN_OR_RETURN(auto gauge, context.metrics.AddCallbackGauge(
                                               name, help, {{"partition", StrCat(partition)}},
                                               [cache = cache.get(), field = field] {
                                                 return static_cast<double>(cache->Stats().*field);
                                               }));
      gauges_.push_back(std::move(gauge));
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
          table.AddRow(id.value(), implementation_, stats.entry_count, stats.size, stats.hit_count,
                       stats.miss_count);
        }
        report->tables.push_back(std::move(table));
      }));
  return neptune::OkStatus();
}

}  // namespace search::cache

// The scalability of the persistent cache: reads are cheap, writes are expensive.

#include <memory>
#include <string>
#include <utility>

#include "cache/cache.pb.h"
#include "cache/cache_service.h"
#include "cache/persistent/persistent_cache_module.h"
#include "neptune/base/strings.h"
#include "neptune/thread/user_thread.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/replication/replica_growth.h"

namespace search::lab {
namespace {

using neptune::AccessMode;
using neptune::Data;
using neptune::RandomSource;
using neptune::Status;
using neptune::StrCat;

constexpr double kLookupMs = 4;
constexpr double kInsertMs = 20;
constexpr double kWriteShare = 0.1;
constexpr uint64_t kKeyCount = 2000;

void UseProcessor(neptune::World& world, double mean_ms) {
  RandomSource& random = neptune::Loop::Current()->random();
  neptune::this_thread::Consume(world.processors(),
                                neptune::FromSeconds(random.Exponential(mean_ms / 1e3)));
}

// Lookups and insertions use processor time, the latter on each replica.
class WorkingCacheModule final : public cache::PersistentCacheModule {
 protected:
  neptune::Status Open(neptune::ReplicatedService& service, neptune::World& world) override {
    service.BeforeWrite([&world](const neptune::LogEntry&) { UseProcessor(world, kInsertMs); });
    return PersistentCacheModule::Open(service, world);
  }
  neptune::Status Lookup(const neptune::StoreView& store, neptune::RequestContext& context,
                         const neptune::Data& request, neptune::Data* response) override {
    UseProcessor(context.world(), kLookupMs);
    return PersistentCacheModule::Lookup(store, context, request, response);
  }
};

ReplicaClusterOptions CacheCluster(int server_count, int degree) {
  ReplicaClusterOptions options;
  options.server_count = server_count;
  options.degree = degree;
  options.module = [] { return std::make_unique<WorkingCacheModule>(); };
  return options;
}

double IdealRate(int server_count, int degree) {
  return 1e3 * server_count / ((1 - kWriteShare) * kLookupMs + kWriteShare * kInsertMs * degree);
}

// The users of one run. The value of a key is a function of the key.
class CacheUsers {
 public:
  ReplicaCall Next(RandomSource& random) {
    const std::string key = StrCat("query ", random.Below(kKeyCount));
    return random.Uniform() < kWriteShare ? Insert(key) : Lookup(key);
  }
  uint64_t found_count() const { return found_count_; }
  uint64_t lookup_count() const { return lookup_count_; }
  uint64_t wrong_count() const { return wrong_count_; }

 private:
  static std::string ValueOf(const std::string& key) { return StrCat("answer to ", key); }
  static ReplicaCall CallOf(const std::string& key, const char* method, AccessMode access,
                            std::string request) {
    return {.partition = neptune::PartitionId(cache::PartitionOfKey(key, kReplicaPartitionCount)),
            .method = neptune::MethodName(method),
            .access = access,
            .request = std::move(request),
            .on_answer = nullptr};
  }
  static ReplicaCall Insert(const std::string& key) {
    cache::InsertRequest request;
    request.set_key(key);
    request.set_value(ValueOf(key));
    return CallOf(key, cache::kInsertMethod, AccessMode::kWrite, request.SerializeAsString());
  }
  ReplicaCall Lookup(const std::string& key) {
    cache::LookupRequest request;
    request.set_key(key);
    ReplicaCall call =
        CallOf(key, cache::kLookupMethod, AccessMode::kRead, request.SerializeAsString());
    call.on_answer = [this, key](const Status& status, const Data& answer) {
      if (!status.ok()) return;
      const auto found = answer.As<cache::LookupResponse>();
      ++lookup_count_;
      found_count_ += found.ok() && (*found)->found() ? 1 : 0;
      const bool is_right = found.ok() && (!(*found)->found() || (*found)->value() == ValueOf(key));
      wrong_count_ += is_right ? 0 : 1;
    };
    return call;
  }

  uint64_t lookup_count_ = 0;
  uint64_t found_count_ = 0;
  uint64_t wrong_count_ = 0;
};

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  ReplicaClusterOptions options = CacheCluster(NodesOf(point), DegreeOf(point));
  options.seed = context.seed;
  double wrong_count = 0;
  double found_percent = 0;
  const auto run = [&](double rate_per_s, double failed_share_max) {
    CacheUsers users;
    ReplicaLoadOptions load;
    load.rate_per_s = rate_per_s;
    load.duration = GrowthDuration(point, context);
    load.failed_share_max = failed_share_max;
    load.next = [&](ReplicaUser&, RandomSource& random) { return users.Next(random); };
    ReplicaCluster cluster(options);
    ReplicaRunResult result = RunReplicas(cluster, load, options.seed);
    wrong_count += static_cast<double>(users.wrong_count());
    found_percent = 100.0 * static_cast<double>(users.found_count()) /
                    static_cast<double>(users.lookup_count());
    return result;
  };
  const double rate = HighestGrowthRate(run, IdealRate(NodesOf(point), DegreeOf(point)), context);
  return Measurement{
      {kGrowthRate, rate}, {"wrong_count", wrong_count}, {"found_percent", found_percent}};
}

void Judge(const Results& results, Judgement* judgement) {
  JudgeGrowth(results, "figure 5.6", "large", judgement);
  double wrong = 0;
  for (const Point& point : results.points()) {
    for (const double count : results.Values(point, "wrong_count")) wrong += count;
  }
  judgement
      ->AtMost("answers with another query's value", "",
               Estimate::OfAll(wrong, results.run_count()), 0)
      .Shape();
  judgement->Shown("lookups that found an entry, largest number of nodes", "",
                   results.Mean(results.points().back(), "found_percent"), "%");
  judgement->AddPlot(GrowthFigure(results, "pcache", "Persistent cache, level 2 (figure 5.6)"));
}

}  // namespace

Experiment ReplPcache() {
  Experiment experiment;
  experiment.name = "repl_pcache";
  experiment.title = "The persistent, replicated cache";
  experiment.source = "[Shen02] 5.4.4, figure 5.6";
  experiment.setup =
      "The set-up of repl_scaling, with the replicated query cache at level ordered_writes, 10 % "
      "inserts, 2,000 keys. A lookup takes 4 ms of processor time, an insert 20 ms on each "
      "replica, exponentially distributed: the paper states that lookups are answered from "
      "memory and updates cost disk accesses, but no times.";
  experiment.seeds = {.smoke = 1, .quick = 1, .full = 5};
  experiment.points = GrowthPoints;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab

// Both services that serve the cache tier, on simulated nodes: what each has to do, and what only
// the persistent one can.

#include <gtest/gtest.h>

#include "cache/cache.pb.h"
#include "cache/cache_service.h"
#include "cache/persistent/persistent_cache_module.h"
#include "cache/result_cache.h"
#include "cache/service/cache_module.h"
#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "neptune/examples/testing/example_cluster.h"
#include "neptune/replication/client/replica_session.h"
#include "neptune/thread/user_thread.h"

namespace search::cache {
namespace {

using neptune::AccessMode;
using neptune::Data;
using neptune::MethodName;
using neptune::PartitionId;
using neptune::ReplicaSession;
using neptune::StatusOr;
using neptune::StrCat;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint32_t kPartitionCount = 2;
// Until then a replica may not have what the primary has.
constexpr neptune::Duration kBehindMax = milliseconds(200);

struct CacheServiceVariant {
  const char* name;  // of the implementation
  neptune::examples::ExampleClusterOptions cluster;
};

// One node: replicas of this one know nothing of each other.
CacheServiceVariant Memory() {
  neptune::examples::ExampleClusterOptions options;
  options.service = kCacheService;
  options.partition_count = kPartitionCount;
  options.module = [] { return std::make_unique<CacheModule>(); };
  return {"memory", options};
}

CacheServiceVariant Persistent() {
  neptune::examples::ExampleClusterOptions options;
  options.spec_file = "cache/persistent/cluster.textproto";
  options.modules = [](const std::string&) { return std::make_unique<PersistentCacheModule>(); };
  return {"persistent", options};
}

class CacheServiceCluster : public testing::Test {
 protected:
  explicit CacheServiceCluster(const CacheServiceVariant& variant) : cluster_(variant.cluster) {
    cluster_.simulator().RunFor(seconds(2));
  }

  void InSession(const std::function<void(ReplicaSession&)>& body) {
    cluster_.RunOnClient([&](neptune::ClientSession& session) {
      ReplicaSession replicas(session);
      body(replicas);
    });
  }
  template <typename Answer, typename Request>
  static StatusOr<Answer> Ask(ReplicaSession& session, const char* method, AccessMode access,
                              const Request& request) {
    const PartitionId partition(PartitionOfKey(request.key(), kPartitionCount));
    Data response;
    NEPTUNE_RETURN_IF_ERROR(
        session.Call({neptune::ServiceName(kCacheService), partition, MethodName(method), access},
                     Data::Of(request), &response));
    NEPTUNE_ASSIGN_OR_RETURN(const Answer* const answer, response.As<Answer>());
    return *answer;
  }
  static StatusOr<LookupResponse> Find(ReplicaSession& session, const std::string& key,
                                       uint64_t version = 1) {
    LookupRequest request;
    request.set_key(key);
    request.set_index_version(version);
    return Ask<LookupResponse>(session, kLookupMethod, AccessMode::kRead, request);
  }
  static StatusOr<InsertResponse> Store(ReplicaSession& session, const std::string& key,
                                        const std::string& value, uint32_t time_to_live_ms = 0,
                                        uint64_t version = 1) {
    InsertRequest request;
    request.set_key(key);
    request.set_index_version(version);
    request.set_value(value);
    request.set_time_to_live_ms(time_to_live_ms);
    return Ask<InsertResponse>(session, kInsertMethod, AccessMode::kWrite, request);
  }

  neptune::examples::SimulatedExample cluster_;
};

class CacheServiceTest : public CacheServiceCluster,
                         public testing::WithParamInterface<CacheServiceVariant> {
 protected:
  CacheServiceTest() : CacheServiceCluster(GetParam()) {}
};

TEST_P(CacheServiceTest, FindsWhatWasInserted) {
  InSession([](ReplicaSession& session) {
    EXPECT_FALSE(Find(session, "apple")->found());
    EXPECT_TRUE(Store(session, "apple", "red")->stored());
    neptune::this_thread::SleepFor(kBehindMax);
    const auto found = Find(session, "apple");
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_TRUE(found->found());
    EXPECT_EQ(found->value(), "red");
    EXPECT_EQ(found->implementation(), GetParam().name);
    EXPECT_FALSE(Find(session, "apple", 2)->found());
    EXPECT_TRUE(Store(session, "apple", "green", 0, 2)->stored());
    neptune::this_thread::SleepFor(kBehindMax);
    EXPECT_FALSE(Find(session, "apple", 1)->found()) << "one value for a query";
    EXPECT_EQ(Find(session, "apple", 2)->value(), "green");
    EXPECT_TRUE(Store(session, "pear", "green", 1000)->stored());
    neptune::this_thread::SleepFor(kBehindMax);
    EXPECT_TRUE(Find(session, "pear")->found());
    neptune::this_thread::SleepFor(seconds(1));
    EXPECT_FALSE(Find(session, "pear")->found());
  });
}

TEST_P(CacheServiceTest, RefusesWhatIsTooLargeOrNoRequest) {
  InSession([](ReplicaSession& session) {
    const size_t value_size_max = ResultCacheOptions().value_size_max;
    EXPECT_FALSE(Store(session, "apple", std::string(value_size_max + 1, 'x'))->stored());
    EXPECT_FALSE(Store(session, "", "x")->stored());
    EXPECT_FALSE(Store(session, std::string(kKeySizeMax + 1, 'k'), "x")->stored());
    Data response;
    EXPECT_EQ(session
                  .Call({neptune::ServiceName(kCacheService), PartitionId(0),
                         MethodName(kInsertMethod), AccessMode::kWrite},
                        Data("\xff no message"), &response)
                  .code(),
              neptune::StatusCode::kInvalidArgument);
  });
}

INSTANTIATE_TEST_SUITE_P(Caches, CacheServiceTest, testing::Values(Memory(), Persistent()),
                         [](const auto& info) { return std::string(info.param.name); });

class PersistentCacheServiceTest : public CacheServiceCluster {
 protected:
  PersistentCacheServiceTest() : CacheServiceCluster(Persistent()) {}
};

TEST_F(PersistentCacheServiceTest, EntriesSurviveEveryNode) {
  InSession([](ReplicaSession& session) {
    for (int i = 0; i < 20; ++i) {
      EXPECT_TRUE(Store(session, StrCat("query ", i), StrCat("answer ", i))->stored());
    }
  });
  for (const char* const node : {"cache-1", "cache-2", "cache-3"}) cluster_.simulator().Crash(node);
  cluster_.simulator().RunFor(seconds(1));
  for (const char* const node : {"cache-1", "cache-2", "cache-3"}) {
    cluster_.simulator().Restart(node);
  }
  cluster_.simulator().RunFor(seconds(4));
  InSession([](ReplicaSession& session) {
    for (int i = 0; i < 20; ++i) {
      const auto found = Find(session, StrCat("query ", i));
      ASSERT_TRUE(found.ok()) << found.status();
      EXPECT_EQ(found->value(), StrCat("answer ", i));
    }
  });
}

// Its log keeps so little that a new disk cannot be filled from that.
CacheServiceVariant PersistentWithShortLog(const std::string& folder) {
  CacheServiceVariant variant = Persistent();
  std::string spec = *neptune::ReadFile(variant.cluster.spec_file, size_t{1} << 20);
  const std::string level = "level: \"ordered_writes\"";
  spec.replace(spec.find(level), level.size(), level + " log_entries_kept: 500");
  variant.cluster.spec_file = folder + "/cluster.textproto";
  EXPECT_TRUE(neptune::WriteFileAtomically(variant.cluster.spec_file, spec).ok());
  return variant;
}

class ShortLogTest : public CacheServiceCluster {
 protected:
  ShortLogTest() : CacheServiceCluster(PersistentWithShortLog(testing::TempDir())) {}
};

TEST_F(ShortLogTest, AReplicaWithANewDiskTakesAnothersDataAndServesThemAlone) {
  constexpr int kCount = 5200;  // each of two partitions drops what it does not keep after 2,000
  InSession([](ReplicaSession& session) {
    for (int i = 0; i < kCount; ++i) {
      ASSERT_TRUE(Store(session, StrCat("query ", i), StrCat("answer ", i))->stored());
    }
  });
  neptune::Simulator& simulator = cluster_.simulator();
  simulator.Crash("cache-3");
  neptune::DurableStorage& storage = simulator.host("cache-3").storage();
  const auto stores = storage.List();
  for (const std::string& store : *stores) ASSERT_TRUE(storage.Destroy(store).ok());
  neptune::SimLogFiles& files = simulator.host("cache-3").sim_storage().log_files();
  for (const std::string& name : files.Names()) ASSERT_TRUE(files.Remove(name).ok());
  simulator.RunFor(seconds(1));
  simulator.Restart("cache-3");
  simulator.RunFor(seconds(6));
  for (uint32_t p = 0; p < kPartitionCount; ++p) {
    const auto taken = cluster_.node("cache-3").metrics().Value(
        "neptune_replica_snapshots_taken_total",
        {{"service", kCacheService}, {"partition", StrCat(p)}});
    EXPECT_EQ(taken.value_or(0), 1) << p;
  }
  for (const char* const node : {"cache-1", "cache-2"}) simulator.Crash(node);
  simulator.RunFor(seconds(2));
  InSession([](ReplicaSession& session) {
    for (int i = 0; i < kCount; i += 13) {
      const auto found = Find(session, StrCat("query ", i));
      ASSERT_TRUE(found.ok()) << found.status();
      EXPECT_EQ(found->value(), StrCat("answer ", i));
    }
  });
}

}  // namespace
}  // namespace search::cache

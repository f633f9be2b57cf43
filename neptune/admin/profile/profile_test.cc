// Profiles of this process, whose hot functions are known.

#include <google/protobuf/io/gzip_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "neptune/admin/profile/allocation_sampler.h"
#include "neptune/admin/profile/processor_sampler.h"
#include "neptune/admin/profile/profile.pb.h"
#include "neptune/admin/profile/profile_pages.h"
#include "neptune/admin/profile/profile_text.h"
#include "neptune/wire/http/http_test_client.h"
#include "neptune/world/real/real_world.h"

namespace neptune {

// Not inlined into each other, so that they have frames, and symbols that no library exports.
static std::atomic<uint64_t> sink{0};

[[gnu::noinline]] static void BurnInATightLoop() {
  uint64_t value = sink.load(std::memory_order_relaxed);
  for (int i = 0; i < 100'000; ++i) value = value * 6364136223846793005 + 1442695040888963407;
  sink.store(value, std::memory_order_relaxed);
}

template <typename Condition>
[[gnu::noinline]] static void BurnUntil(const Condition& done) {
  while (!done()) BurnInATightLoop();
  sink.fetch_add(1, std::memory_order_relaxed);  // no tail call
}

using Blocks = std::vector<std::unique_ptr<char[]>>;
constexpr size_t kBlockSize = size_t{64} << 10;

[[gnu::noinline]] static void AllocateMore(Blocks* blocks) {
  for (int i = 0; i < 100; ++i) blocks->push_back(std::make_unique<char[]>(kBlockSize));
  sink.fetch_add(blocks->size(), std::memory_order_relaxed);  // no tail call
}

// Allocates nothing else: a sample of eight bytes represents thousands of allocations.
[[gnu::noinline]] static void AllocateForAMoment() {
  for (int i = 0; i < 100; ++i) {
    const auto block = std::make_unique<char[]>(kBlockSize);
    sink.fetch_add(reinterpret_cast<uintptr_t>(block.get()), std::memory_order_relaxed);
  }
}

namespace {

using std::chrono::seconds;

std::string ThisProcess(uintptr_t address) {
  static FunctionNames names;
  return names.Of(address);
}

struct FoldedShare {
  int64_t all = 0;
  int64_t with = 0;
};

// Share of the samples whose stacks contain `text`.
FoldedShare ShareOf(const std::string& folded, const std::string& text) {
  FoldedShare share;
  std::istringstream lines(folded);
  for (std::string line; std::getline(lines, line);) {
    const int64_t count = std::stoll(line.substr(line.rfind(' ') + 1));
    share.all += count;
    if (line.find(text) != std::string::npos) share.with += count;
  }
  return share;
}

profile::Profile Unzipped(const std::string& bytes) {
  google::protobuf::io::ArrayInputStream source(bytes.data(), static_cast<int>(bytes.size()));
  google::protobuf::io::GzipInputStream gzip(&source);
  profile::Profile profile;
  EXPECT_TRUE(profile.ParseFromZeroCopyStream(&gzip));
  return profile;
}

TEST(ProcessorSamplerTest, SamplesWorkingFunctionsAndTheirCallers) {
  constexpr size_t kCount = 50;
  auto sampler = ProcessorSampler::Start();
  ASSERT_TRUE(sampler.ok()) << sampler.status();
  BurnUntil([&] { return (*sampler)->sample_count() >= kCount; });
  const std::string folded = FoldedStacks((*sampler)->Stop(), ThisProcess);
  const FoldedShare share = ShareOf(folded, "BurnInATightLoop");
  EXPECT_GE(share.all, static_cast<int64_t>(kCount));
  EXPECT_GE(share.with, 9 * share.all / 10) << folded;
  EXPECT_GE(ShareOf(folded, "BurnUntil<>();neptune::BurnInATightLoop").with +
                ShareOf(folded, "BurnUntil();neptune::BurnInATightLoop").with,
            8 * share.all / 10)
      << folded;
}

TEST(ProcessorSamplerTest, SecondSampleIsRefusedWhileOneRuns) {
  auto first = ProcessorSampler::Start();
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(ProcessorSampler::Start().status().code(), StatusCode::kFailedPrecondition);
  (void)(*first)->Stop();
  EXPECT_TRUE(ProcessorSampler::Start().ok());
}

TEST(ProcessorSamplerTest, SamplesBeyondTheLimitAreCounted) {
  auto sampler = ProcessorSampler::Start(1);
  ASSERT_TRUE(sampler.ok()) << sampler.status();
  BurnUntil([&] { return (*sampler)->lost_count() >= 2; });
  const ProcessorSamples samples = (*sampler)->Stop();
  EXPECT_EQ(samples.stacks.size(), 1u);
  EXPECT_GE(samples.lost_count, 2);
}

// Totals of the stacks that contain `function`.
AllocationCounts CountsOf(const AllocationSamples& samples, const std::string& function) {
  AllocationCounts sum;
  for (const auto& [stack, counts] : samples.stacks) {
    const bool has_it = std::any_of(stack.begin(), stack.end(), [&](uintptr_t address) {
      return ThisProcess(address).find(function) != std::string::npos;
    });
    if (!has_it) continue;
    sum.made += counts.made;
    sum.made_bytes += counts.made_bytes;
    sum.held += counts.held;
    sum.held_bytes += counts.held_bytes;
  }
  return sum;
}

TEST(AllocationSamplerTest, SamplesAllocatingFunctionsAndHeldMemory) {
  Blocks blocks;
  blocks.reserve(1000);  // its growth would be small allocations, each of which represents many
  auto sampler = AllocationSampler::Start();
  ASSERT_TRUE(sampler.ok()) << sampler.status();
  for (int i = 0; i < 10; ++i) AllocateMore(&blocks);
  for (int i = 0; i < 10; ++i) AllocateForAMoment();
  blocks.resize(500);
  const AllocationSamples samples = (*sampler)->Stop();
  // About 632 of 1,000 blocks are sampled, with a deviation of 15, and each represents 1.58: 150
  // are six deviations.
  const AllocationCounts more = CountsOf(samples, "AllocateMore");
  EXPECT_NEAR(more.made, 1000, 150);
  EXPECT_NEAR(more.made_bytes, 1000.0 * kBlockSize, 150.0 * kBlockSize);
  EXPECT_NEAR(more.held, 500, 150);
  EXPECT_NEAR(more.held_bytes, 500.0 * kBlockSize, 150.0 * kBlockSize);
  const AllocationCounts moment = CountsOf(samples, "AllocateForAMoment");
  EXPECT_NEAR(moment.made, 1000, 150);
  EXPECT_EQ(moment.held, 0);
}

TEST(AllocationSamplerTest, SecondSampleIsRefusedWhileOneRunsAndEachStartsEmpty) {
  Blocks blocks;
  {
    auto first = AllocationSampler::Start();
    ASSERT_TRUE(first.ok()) << first.status();
    EXPECT_EQ(AllocationSampler::Start().status().code(), StatusCode::kFailedPrecondition);
    AllocateMore(&blocks);
  }
  auto second = AllocationSampler::Start();
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(CountsOf((*second)->Stop(), "AllocateMore").made, 0);
}

TEST(AllocationSamplerTest, FreesAfterAProfileDoNotAffectLaterOnes) {
  Blocks blocks;
  auto first = AllocationSampler::Start();
  ASSERT_TRUE(first.ok()) << first.status();
  AllocateMore(&blocks);
  (void)(*first)->Stop();
  auto second = AllocationSampler::Start();
  ASSERT_TRUE(second.ok()) << second.status();
  blocks.clear();
  AllocateMore(&blocks);
  EXPECT_NEAR(CountsOf((*second)->Stop(), "AllocateMore").held, 100, 60);
}

TEST(AllocationSamplerTest, SamplesBeyondTheLimitAreCounted) {
  auto sampler = AllocationSampler::Start();
  ASSERT_TRUE(sampler.ok()) << sampler.status();
  for (size_t i = 0; i < 3 * kAllocationSampleCountMax / 100; ++i) AllocateForAMoment();
  EXPECT_GT((*sampler)->Stop().lost_count, 0);
}

TEST(ProfileTextTest, FoldsFromTheOutermostInAndLeavesOutUnknownEnds) {
  ProcessorSamples samples;
  samples.stacks[{1, 2, 9, 9}] = 3;
  samples.stacks[{11, 2}] = 2;  // another instruction of the same function
  samples.stacks[{9, 2}] = 1;
  samples.stacks[{9}] = 4;
  const auto name = [](uintptr_t address) -> std::string {
    if (address == 9) return "";
    return address % 10 == 1 ? "leaf" : "main";
  };
  EXPECT_EQ(FoldedStacks(samples, name), "[unknown] 4\nmain;[unknown] 1\nmain;leaf 5\n");
}

TEST(ProfileTextTest, PprofHasSamplesTimesAndNames) {
  ProcessorSamples samples;
  samples.stacks[{1, 2}] = 3;
  samples.lost_count = 7;
  const ProfileHeader header = {
      .began = WallTime{1'000'000'000'000}, .length = seconds(2), .node = "node-1"};
  const profile::Profile profile = Unzipped(PprofProfile(
      samples, header, [](uintptr_t address) { return address == 1 ? "leaf" : "main"; }));
  const auto text = [&](int64_t index) { return profile.string_table(static_cast<int>(index)); };
  EXPECT_EQ(text(0), "");
  EXPECT_EQ(profile.time_nanos(), 1'000'000'000'000);
  EXPECT_EQ(profile.duration_nanos(), 2'000'000'000);
  EXPECT_EQ(profile.period(), 10'000'000);
  ASSERT_EQ(profile.sample_type_size(), 2);
  EXPECT_EQ(text(profile.sample_type(1).type()), "cpu");
  EXPECT_EQ(text(profile.sample_type(1).unit()), "nanoseconds");
  ASSERT_EQ(profile.sample_size(), 1);
  EXPECT_EQ(profile.sample(0).value(0), 3);
  EXPECT_EQ(profile.sample(0).value(1), 30'000'000);
  std::vector<std::string> names;
  for (const uint64_t location : profile.sample(0).location_id()) {
    const uint64_t function = profile.location(location - 1).line(0).function_id();
    names.push_back(text(profile.function(function - 1).name()));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"leaf", "main"}));
  EXPECT_EQ(text(profile.comment(0)), "node-1");
  EXPECT_EQ(text(profile.comment(1)), "7 samples exceeded the limit");
}

TEST(ProfileTextTest, AllocationsHaveTotalAndHeldValues) {
  AllocationSamples samples;
  samples.stacks[{1, 2}] = {.made = 4, .made_bytes = 400, .held = 1, .held_bytes = 100};
  samples.stacks[{2}] = {.made = 3, .made_bytes = 30};
  const auto name = [](uintptr_t address) -> std::string { return address == 1 ? "leaf" : "main"; };
  EXPECT_EQ(FoldedStacks(samples, name), "main;leaf 100\n");
  const profile::Profile profile = Unzipped(PprofProfile(samples, ProfileHeader{}, name));
  std::vector<std::string> types;
  for (const profile::ValueType& type : profile.sample_type()) {
    types.push_back(profile.string_table(static_cast<int>(type.type())));
  }
  EXPECT_EQ(types, (std::vector<std::string>{"alloc_objects", "alloc_space", "inuse_objects",
                                             "inuse_space"}));
  ASSERT_EQ(profile.sample_size(), 2);
  const auto& values = profile.sample(0).value();
  EXPECT_EQ(std::vector<int64_t>(values.begin(), values.end()),
            (std::vector<int64_t>{4, 400, 1, 100}));
}

// An admin server over the real world, and a loop beside it that works on a user-level thread.
class ProfilePagesTest : public testing::Test {
 protected:
  ProfilePagesTest() : world_(MakeRealWorld({})), pages_(*world_, "node-1") {
    client_loop_ = *world_->StartLoop({.name = "client"});
    worker_ = *world_->StartLoop({.name = "worker"});
    admin_ = std::make_unique<AdminServer>(*world_, **world_->StartLoop({.name = "admin"}),
                                           AdminSources{.node_name = "node-1"});
    pages_.AddTo(*admin_);
    std::promise<Endpoint> started;
    admin_->Start({kLoopbackAddress, 0}, [&](StatusOr<Endpoint> at) { started.set_value(*at); });
    at_ = started.get_future().get();
  }
  ~ProfilePagesTest() override {
    working_ = false;
    std::promise<void> stopped;
    admin_->Stop([&] { stopped.set_value(); });
    stopped.get_future().wait();
    world_->Stop();
    clients_.clear();
  }

  void Work() {
    worker_->Post([this] {
      threads_ = std::make_unique<ThreadScheduler>(*worker_);
      (void)threads_->Spawn([this] { BurnUntil([this] { return !working_; }); });
    });
  }
  std::future<HttpResponse> Begin(const std::string& target) {
    auto answer = std::make_shared<std::promise<HttpResponse>>();
    HttpTestClient* const client =
        clients_.emplace_back(std::make_unique<HttpTestClient>(*client_loop_)).get();
    client_loop_->Post([this, client, answer, target] {
      client->set_on_response([client, answer] { answer->set_value(client->responses()[0]); });
      client->Connect(at_);
      client->Get(target);
    });
    return answer->get_future();
  }
  HttpResponse Fetch(const std::string& target) { return Begin(target).get(); }

  std::unique_ptr<World> world_;
  ProfilePages pages_;
  Loop* client_loop_;
  Loop* worker_;
  std::unique_ptr<AdminServer> admin_;
  Endpoint at_;
  std::atomic<bool> working_{true};
  std::unique_ptr<ThreadScheduler> threads_;
  std::vector<std::unique_ptr<HttpTestClient>> clients_;
};

TEST_F(ProfilePagesTest, WorkingFunctionsDominate) {
  Work();
  const HttpResponse response = Fetch("/profile/cpu?seconds=1&format=folded");
  ASSERT_EQ(response.status, 200) << response.body;
  const FoldedShare share = ShareOf(response.body, "BurnInATightLoop");
  EXPECT_GT(share.all, 0);
  EXPECT_GE(share.with, 8 * share.all / 10) << response.body;
}

TEST_F(ProfilePagesTest, PprofIsTheDefault) {
  Work();
  const HttpResponse response = Fetch("/profile/cpu?seconds=1");
  ASSERT_EQ(response.status, 200) << response.body;
  const profile::Profile profile = Unzipped(response.body);
  bool has_worker = false;
  for (const std::string& text : profile.string_table()) {
    has_worker |= text == "neptune::BurnInATightLoop()";
  }
  EXPECT_TRUE(has_worker);
  EXPECT_EQ(profile.duration_nanos(), 1'000'000'000);
}

TEST_F(ProfilePagesTest, ASecondProfileIsRefusedWhileOtherPagesAnswer) {
  std::future<HttpResponse> first = Begin("/profile/cpu?seconds=1");
  // The server has begun the first profile once it answers a later request on the same loop.
  EXPECT_EQ(Fetch("/healthz").status, 200);
  EXPECT_EQ(Fetch("/profile/cpu?seconds=1").status, 409);
  EXPECT_EQ(first.get().status, 200);
}

TEST_F(ProfilePagesTest, WrongParametersAreRefused) {
  for (const char* query : {"seconds=0", "seconds=31", "seconds=x", "seconds=", "seconds=-1",
                            "seconds=99999999999", "seconds=1&format=svg"}) {
    EXPECT_EQ(Fetch(std::string("/profile/cpu?") + query).status, 400) << query;
  }
}

TEST_F(ProfilePagesTest, AllocationsDuringTheProfileAreIncluded) {
  std::future<HttpResponse> profile = Begin("/profile/heap?seconds=1&format=folded");
  Blocks blocks;
  // Slow enough that the samples of the whole second have room: only the last ones are of blocks
  // that are still held.
  while (profile.wait_for(std::chrono::milliseconds(5)) != std::future_status::ready) {
    AllocateMore(&blocks);
    if (blocks.size() > 2000) blocks.erase(blocks.begin(), blocks.begin() + 100);
  }
  const HttpResponse response = profile.get();
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_NE(response.body.find("AllocateMore"), std::string::npos) << response.body;
}

TEST_F(ProfilePagesTest, HeapTotalsShowMemoryInUse) {
  const auto in_use = [&] {
    const std::string body = Fetch("/profile/heap/totals").body;
    const std::string key = "\"in_use_bytes\":";
    return std::stoll(body.substr(body.find(key) + key.size()));
  };
  const int64_t before = in_use();
  const std::vector<char> more(64 << 20, 1);
  EXPECT_GE(in_use() - before, int64_t{60} << 20) << more[0];
}

}  // namespace
}  // namespace neptune

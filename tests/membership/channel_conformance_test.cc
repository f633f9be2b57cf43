// What every channel of announcements does, whatever carries them: multicast, etcd or files,
// simulated or real.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "neptune/base/strings.h"
#include "neptune/base/unique_port.h"
#include "neptune/membership/etcd_channel.h"
#include "neptune/membership/file_channel.h"
#include "neptune/world/real/helper_threads.h"
#include "tests/membership/channel_bed.h"
#include "tests/membership/etcd_server.h"
#include "tests/membership/simulated_etcd.h"

namespace neptune {
namespace {

using std::chrono::seconds;

// A look into a directory comes at most a second after the last one, and takes its time on a busy
// machine.
constexpr Duration kSimulatedPeriod = std::chrono::milliseconds(1100);
constexpr Duration kRealPeriod = seconds(20);

class ChannelTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "SimulatedEtcd") {
      simulated_etcd_ = std::make_unique<SimulatedEtcd>(simulator_, "etcd");
      bed_ = ChannelBed::MakeSimulated(simulator_, OpenEtcd(simulated_etcd_->endpoint()));
    } else if (GetParam() == "SimulatedMulticast") {
      bed_ = ChannelBed::MakeSimulated(simulator_, OpenMulticast());
    } else if (GetParam() == "RealMulticast") {
      bed_ = ChannelBed::MakeReal(OpenMulticast());
    } else if (GetParam() == "SimulatedFiles") {
      bed_ = ChannelBed::MakeSimulated(simulator_, OpenFiles());
    } else if (GetParam() == "RealFiles") {
      bed_ = ChannelBed::MakeReal(OpenFiles());
    } else {
      auto server = EtcdServer::Start();
      if (server.status().code() == StatusCode::kNotFound) GTEST_SKIP() << "SKIPPED: no etcd";
      ASSERT_TRUE(server.ok()) << server.status();
      real_etcd_ = *std::move(server);
      bed_ = ChannelBed::MakeReal(OpenEtcd(real_etcd_->endpoint()));
    }
  }
  void TearDown() override {
    bed_.reset();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  bool simulated() const { return GetParam().starts_with("Simulated"); }
  Duration period() const { return simulated() ? kSimulatedPeriod : kRealPeriod; }
  void AddAll(const std::vector<std::string>& names) {
    for (const std::string& name : names) bed_->Add(name);
  }

  std::unique_ptr<ChannelBed> bed_;

 private:
  ChannelBed::Open OpenMulticast() {
    return [this](Loop& loop, uint32_t address, const std::string&,
                  AnnouncementChannel::Handler handler) {
      return OpenMulticastChannel(loop.network(), {0xefc00731, port_.number()}, address,
                                  std::move(handler));
    };
  }
  static ChannelBed::Open OpenEtcd(Endpoint endpoint) {
    return [endpoint](Loop& loop, uint32_t, const std::string& name,
                      AnnouncementChannel::Handler handler) {
      EtcdChannelOptions options;
      options.endpoints = {endpoint};
      options.prefix = "neptune/test/nodes/";
      options.node = name;
      options.lease_ttl = seconds(2);
      return OpenEtcdChannel(loop, std::move(options), std::move(handler));
    };
  }

  ChannelBed::Open OpenFiles() {
    folder_ = StrCat(testing::TempDir(), "/conformance-", getpid());
    std::filesystem::create_directories(folder_);
    return [this](Loop& loop, uint32_t, const std::string& name,
                  AnnouncementChannel::Handler handler) {
      FileChannelOptions options;
      options.folder = folder_ + "/test.nodes";
      options.node = name;
      if (!simulated()) options.helpers = MakeRealHelperThreads("directory", 1);
      return OpenFileChannel(loop, std::move(options), std::move(handler));
    };
  }

  std::string folder_;
  UniquePort port_;
  Simulator simulator_{20021209};
  std::unique_ptr<SimulatedEtcd> simulated_etcd_;
  std::unique_ptr<EtcdServer> real_etcd_;
};

TEST_P(ChannelTest, EverybodyHearsWithinThePeriodThePublisherToo) {
  AddAll({"a", "b", "c"});
  bed_->Publish("a", "of a");
  EXPECT_TRUE(bed_->AllHear({"a", "b", "c"}, "of a", period()));
  bed_->Publish("b", "of b");
  EXPECT_TRUE(bed_->AllHear({"a", "b", "c"}, "of b", period()));
}

TEST_P(ChannelTest, LatestOfManyArrives) {
  AddAll({"a", "b"});
  for (int i = 0; i < 20; ++i) bed_->Publish("a", StrCat("news ", i));
  EXPECT_TRUE(bed_->AllHear({"a", "b"}, "news 19", period()));
}

TEST_P(ChannelTest, GoodbyeIsHeardAlthoughNothingFollows) {
  AddAll({"a", "b"});
  bed_->Publish("a", "of a");
  ASSERT_TRUE(bed_->AllHear({"b"}, "of a", period()));
  bed_->Publish("a", "goodbye");
  bed_->Publish("a", "goodbye");
  EXPECT_TRUE(bed_->AllHear({"b"}, "goodbye", period()));
}

TEST_P(ChannelTest, RestartedMemberIsHeardAndHears) {
  AddAll({"a", "b"});
  bed_->Publish("a", "first life");
  ASSERT_TRUE(bed_->AllHear({"b"}, "first life", period()));
  bed_->Remove("a");
  bed_->Add("a");
  bed_->Publish("a", "second life");
  bed_->Publish("b", "of b");
  EXPECT_TRUE(bed_->AllHear({"b"}, "second life", period()));
  EXPECT_TRUE(bed_->AllHear({"a"}, "of b", period()));
}

// In a directory it is heard until its lease ends.
TEST_P(ChannelTest, NewcomerHearsNothingOfAMemberLongDead) {
  AddAll({"a", "b"});
  bed_->Publish("a", "of a");
  ASSERT_TRUE(bed_->AllHear({"b"}, "of a", period()));
  bed_->Remove("a");
  bool heard = true;
  for (int i = 0; heard && i < 2000; ++i) {
    bed_->Add("newcomer");
    bed_->Publish("b", "of b");
    ASSERT_TRUE(bed_->AllHear({"newcomer", "b"}, "of b", period()));
    const std::vector<std::string> list = bed_->heard()["newcomer"];
    heard = std::find(list.begin(), list.end(), "of a") != list.end();
    bed_->Remove("newcomer");
  }
  EXPECT_FALSE(heard);
}

TEST_P(ChannelTest, ManyMembersAllHearAll) {
  std::vector<std::string> names;
  for (int i = 0; i < (simulated() ? 100 : 16); ++i) names.push_back(StrCat("m", i));
  AddAll(names);
  for (const std::string& name : names) bed_->Publish(name, "of " + name);
  for (const std::string& name : names) {
    EXPECT_TRUE(bed_->AllHear(names, "of " + name, 2 * period())) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ChannelTest,
                         testing::Values("SimulatedMulticast", "SimulatedEtcd", "SimulatedFiles",
                                         "RealMulticast", "RealEtcd", "RealFiles"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace neptune

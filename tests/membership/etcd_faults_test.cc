// A directory that dies, hangs, forgets or lies: what is known stays, and everything continues once
// it answers again.

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "absl/strings/escaping.h"
#include "neptune/base/strings.h"
#include "neptune/membership/announcement.h"
#include "neptune/membership/etcd_channel.h"
#include "neptune/membership/etcd_messages.h"
#include "neptune/security/datagram_seal.h"
#include "tests/membership/channel_bed.h"
#include "tests/membership/etcd_server.h"
#include "tests/membership/simulated_etcd.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kPrefix[] = "neptune/test/nodes/";
constexpr Duration kSoon = seconds(30);

class EtcdFaultsTest : public testing::Test {
 protected:
  EtcdFaultsTest() { metrics_ = *DirectoryMetrics::Make(registry_); }

  ChannelBed::Open Open() {
    return [this](Loop& loop, uint32_t, const std::string& name,
                  AnnouncementChannel::Handler handler) {
      EtcdChannelOptions options;
      options.endpoints = endpoints_;
      options.prefix = kPrefix;
      options.node = name;
      options.keys = keys_;
      options.lease_ttl = seconds(3);
      options.request_timeout = seconds(1);
      options.retry_max = seconds(1);
      options.metrics = metrics_;
      return OpenEtcdChannel(loop, std::move(options), std::move(handler));
    };
  }
  double Metric(const std::string& name) {
    return registry_.Value("neptune_directory_" + name).value();
  }

  MetricsRegistry registry_;
  DirectoryMetrics metrics_;
  std::vector<Endpoint> endpoints_;
  std::shared_ptr<const ClusterKeys> keys_;
};

class RealEtcdTest : public EtcdFaultsTest {
 protected:
  void SetUp() override {
    auto server = EtcdServer::Start();
    if (server.status().code() == StatusCode::kNotFound) GTEST_SKIP() << "SKIPPED: no etcd";
    ASSERT_TRUE(server.ok()) << server.status();
    etcd_ = *std::move(server);
    endpoints_ = {etcd_->endpoint()};
    bed_ = ChannelBed::MakeReal(Open());
    bed_->Add("a");
    bed_->Add("b");
    bed_->Publish("a", "before");
    ASSERT_TRUE(bed_->AllHear({"a", "b"}, "before", kSoon));
  }
  void TearDown() override { bed_.reset(); }
  // Each turn passes once through the member's loop, which sees the failure.
  bool PublishUntilFailure() {
    const double before = Metric("failures_total");
    for (int turn = 0; turn < 10'000'000; ++turn) {
      bed_->Publish("a", "while it is away");
      if (Metric("failures_total") > before) return Metric("available") == 0;
    }
    return false;
  }

  std::unique_ptr<EtcdServer> etcd_;
  std::unique_ptr<ChannelBed> bed_;
};

TEST_F(RealEtcdTest, KilledAndStartedAgainItCarriesTheLatest) {
  etcd_->Kill();
  EXPECT_TRUE(PublishUntilFailure());
  ASSERT_TRUE(etcd_->StartAgain(/*empty=*/false).ok());
  EXPECT_TRUE(bed_->AllHear({"a", "b"}, "while it is away", kSoon));
  EXPECT_EQ(Metric("available"), 1);
}

TEST_F(RealEtcdTest, StartedAgainWithoutItsDataItIsFilledAnew) {
  for (int i = 0; i < 20; ++i) {
    bed_->Publish("b", StrCat("revision ", i));
    ASSERT_TRUE(bed_->AllHear({"b"}, StrCat("revision ", i), kSoon));
  }
  etcd_->Kill();
  ASSERT_TRUE(etcd_->StartAgain(/*empty=*/true).ok());
  // No node publishes again: the last announcement is put again when its lease is found gone.
  bed_->Add("newcomer");
  EXPECT_TRUE(bed_->AllHear({"newcomer"}, "before", kSoon));
  EXPECT_TRUE(bed_->AllHear({"newcomer"}, "revision 19", kSoon));
}

TEST_F(RealEtcdTest, PausedAndResumedItCarriesTheLatest) {
  etcd_->Signal(SIGSTOP);
  EXPECT_TRUE(PublishUntilFailure());
  etcd_->Signal(SIGCONT);
  EXPECT_TRUE(bed_->AllHear({"a", "b"}, "while it is away", kSoon));
}

class SimulatedEtcdTest : public EtcdFaultsTest {
 protected:
  void Start(int etcd_count = 1) {
    for (int i = 0; i < etcd_count; ++i) {
      etcds_.push_back(std::make_unique<SimulatedEtcd>(simulator_, StrCat("etcd-", i)));
      endpoints_.push_back(etcds_.back()->endpoint());
    }
    bed_ = ChannelBed::MakeSimulated(simulator_, Open());
  }
  void TearDown() override { bed_.reset(); }
  SimulatedEtcd& etcd() { return *etcds_.front(); }
  size_t HeardCount(const std::string& name) { return bed_->heard()[name].size(); }

  Simulator simulator_{20021210};
  std::vector<std::unique_ptr<SimulatedEtcd>> etcds_;
  std::unique_ptr<ChannelBed> bed_;
};

TEST_F(SimulatedEtcdTest, TriesOtherEndpoints) {
  endpoints_ = {{0x0a000901, 2379}, {0x0a000902, 2379}};  // unused addresses
  Start();
  bed_->Add("a");
  bed_->Publish("a", "of a");
  EXPECT_TRUE(bed_->AllHear({"a"}, "of a", seconds(10)));
}

TEST_F(SimulatedEtcdTest, ReadsManyPages) {
  Start();
  for (int i = 0; i < 1300; ++i) etcd().Put(StrCat(kPrefix, "n", i), StrCat("of ", i));
  etcd().Put("neptune/test/nodez", "another's");
  bed_->Add("a");
  EXPECT_TRUE(bed_->AllHear({"a"}, "of 999", seconds(2)));
  simulator_.RunFor(seconds(5));
  EXPECT_EQ(HeardCount("a"), 1300u);  // each once, and no other prefix's
}

TEST_F(SimulatedEtcdTest, LiesAreCountedAndWhatIsTrueIsHeardAfterwards) {
  Start();
  const std::string key = absl::Base64Escape(StrCat(kPrefix, "x"));
  const auto range = [&](const std::string& value) {
    return StrCat(R"({"header":{"revision":"9"},"kvs":[{"key":")", key, R"(","value":)", value,
                  "}]}");
  };
  const std::string lies[] = {
      "",
      "{",
      "[]",
      "null",
      std::string(100'000, '['),
      std::string(kEtcdAnswerSizeMax + 1, ' '),
      "{}",
      R"({"header":{"revision":"-1"}})",
      R"({"header":{"revision":"99999999999999999999"}})",
      R"({"header":{"revision":7},"kvs":7})",
      StrCat(R"({"header":{"revision":"9"},"more":true,"kvs":[]})"),
      range("7"),
      range(R"("***")"),
      range(StrCat("\"", std::string(4000, 'A'), "\"")),
  };
  bed_->Add("a");
  for (const std::string& lie : lies) {
    const double before = Metric("failures_total") + Metric("refused_total");
    etcd().set_lie([&](const HttpRequest&) { return HttpResponse::Json(200, lie); });
    simulator_.RunFor(seconds(3));
    EXPECT_GT(Metric("failures_total") + Metric("refused_total"), before) << lie.substr(0, 99);
  }
  EXPECT_EQ(HeardCount("a"), 0u);
  etcd().set_lie(nullptr);
  bed_->Publish("a", "true");
  EXPECT_TRUE(bed_->AllHear({"a"}, "true", seconds(5)));
}

TEST_F(SimulatedEtcdTest, RequestsAreFewHoweverItFails) {
  for (const int status : {404, 500, 200}) {
    Simulator simulator(7);
    SimulatedEtcd etcd(simulator, "etcd");
    etcd.set_lie([&](const HttpRequest&) { return HttpResponse::Json(status, "{}"); });
    endpoints_ = {etcd.endpoint()};
    const auto bed = ChannelBed::MakeSimulated(simulator, Open());
    bed->Add("a");
    bed->Publish("a", "of a");
    simulator.RunFor(seconds(60));
    EXPECT_GT(etcd.request_count(), 20u) << status;
    EXPECT_LT(etcd.request_count(), 60u * 12) << status;
  }
}

// A full store refuses to be written, and is read all the same.
TEST_F(SimulatedEtcdTest, ReadsWhatItMayNotWrite) {
  Start();
  etcd().set_lie([](const HttpRequest& request) -> std::optional<HttpResponse> {
    if (request.path != "/v3/kv/put") return std::nullopt;
    return HttpResponse::Json(500, R"({"error":"etcdserver: mvcc: database space exceeded"})");
  });
  bed_->Add("a");
  bed_->Publish("a", "of a");
  simulator_.RunFor(seconds(5));
  etcd().Put(StrCat(kPrefix, "b"), "of b");
  EXPECT_TRUE(bed_->AllHear({"a"}, "of b", seconds(5)));
}

TEST_F(SimulatedEtcdTest, KeyOfADeadMemberGoesAndThatOfALivingOneStays) {
  Start();
  bed_->Add("a");
  bed_->Add("b");
  bed_->Publish("a", "of a");
  bed_->Publish("b", "of b");
  simulator_.RunFor(seconds(60));
  EXPECT_EQ(etcd().key_count(), 2u);
  bed_->Remove("a");
  simulator_.RunFor(seconds(4));
  EXPECT_EQ(etcd().key_count(), 1u);
}

TEST_F(SimulatedEtcdTest, OnlyWhatTheClustersKeySealedIsHeard) {
  const auto key = [](int seed) {
    std::string bytes;
    for (int i = 0; i < 32; ++i) bytes.push_back(static_cast<char>(seed + 73 * i));
    const std::string text = absl::BytesToHexString(bytes);
    return std::make_shared<const ClusterKeys>(*ClusterKeys::Parse(text, "test"));
  };
  keys_ = key(1);
  Start();
  ClusterMac stranger(*key(2));
  etcd().Put(StrCat(kPrefix, "x"), "not sealed");
  etcd().Put(StrCat(kPrefix, "y"), SealDatagram("of a stranger", stranger));
  bed_->Add("a");
  bed_->Add("b");
  bed_->Publish("a", "of a");
  EXPECT_TRUE(bed_->AllHear({"a", "b"}, "of a", seconds(2)));
  const HeardByName all = bed_->heard();
  for (const std::string& heard : all.at("b")) EXPECT_EQ(heard, "of a");
  EXPECT_GE(Metric("refused_total"), 4);
}

// The largest sealed announcement takes the way there and back.
TEST_F(SimulatedEtcdTest, LargestAnnouncementFits) {
  Start();
  bed_->Add("a");
  const std::string largest(kAnnouncementSizeMax, '\xff');
  bed_->Publish("a", largest);
  EXPECT_TRUE(bed_->AllHear({"a"}, largest, seconds(2)));
}

}  // namespace
}  // namespace neptune

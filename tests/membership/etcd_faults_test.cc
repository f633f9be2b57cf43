// A directory that dies, hangs, forgets or lies: what is known stays, and everything continues once
// it answers again.

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "absl/strings/escaping.h"
#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "neptune/membership/announcement.h"
#include "neptune/membership/etcd_channel.h"
#include "neptune/membership/etcd_messages.h"
#include "neptune/security/certificate_maker.h"
#include "neptune/security/datagram_seal.h"
#include "neptune/security/tls_context.h"
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
      options.user = user_;
      options.password = "a-password-of-a-test";
      options.tls = tls_;
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
  std::string user_;
  std::shared_ptr<TlsContext> tls_;
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

// Demands a token, which it forgets.
TEST_F(SimulatedEtcdTest, LogsInAndDoesSoAgainWhenItsTokenIsRefused) {
  user_ = "nodes";
  Start();
  int token = 0;
  bool refused_once = false;
  etcd().set_lie([&](const HttpRequest& request) -> std::optional<HttpResponse> {
    if (request.path == "/v3/auth/authenticate") {
      EXPECT_EQ(request.body, R"({"name":"nodes","password":"a-password-of-a-test"})");
      return HttpResponse::Json(200, StrCat(R"({"token":"token-)", ++token, R"("})"));
    }
    if (request.headers.Get("Authorization") == StrCat("token-", token)) return std::nullopt;
    refused_once = true;
    return HttpResponse::Json(401, R"({"error":"etcdserver: invalid auth token","code":16})");
  });
  bed_->Add("a");
  bed_->Publish("a", "of a");
  EXPECT_TRUE(bed_->AllHear({"a"}, "of a", seconds(5)));
  EXPECT_EQ(token, 1);
  token = 7;  // the directory has forgotten the first one
  bed_->Publish("a", "of a again");
  EXPECT_TRUE(bed_->AllHear({"a"}, "of a again", seconds(10)));
  EXPECT_TRUE(refused_once);
  EXPECT_EQ(token, 8);
}

TEST_F(SimulatedEtcdTest, BadTokensAreFailures) {
  user_ = "nodes";
  Start();
  std::string answer;
  etcd().set_lie([&](const HttpRequest& request) -> std::optional<HttpResponse> {
    EXPECT_EQ(request.path, "/v3/auth/authenticate") << "nothing is asked without a token";
    return HttpResponse::Json(200, answer);
  });
  bed_->Add("a");
  for (const std::string& bad :
       {std::string("{}"), std::string(R"({"token":""})"), std::string(R"({"token":7})"),
        std::string(R"({"token":"a\r\nX: b"})"), std::string("["),
        StrCat(R"({"token":")", std::string(kEtcdTokenSizeMax + 1, 't'), R"("})")}) {
    answer = bad;
    const double before = Metric("failures_total");
    simulator_.RunFor(seconds(3));
    EXPECT_GT(Metric("failures_total"), before) << bad.substr(0, 99);
  }
}

// Certificates of one authority, as files.
class Certificates {
 public:
  explicit Certificates(SimWorld& world)
      : world_(world),
        validity_{WallTime{world.wall_time().ns_since_1970 - kHourNs},
                  WallTime{world.wall_time().ns_since_1970 + kHourNs}},
        authority_(*MakeAuthority("authority of a directory", validity_)) {}

  std::shared_ptr<TlsContext> Make(const std::string& name,
                                   const std::vector<std::string>& hosts) const {
    const KeyAndCertificate own = *MakeCertificate(authority_, name, hosts, validity_);
    const std::string path = StrCat(testing::TempDir(), "/", name);
    EXPECT_TRUE(WriteFileAtomically(path + ".crt", own.certificate).ok());
    EXPECT_TRUE(WriteFileAtomically(path + ".key", own.key, FileReaders::kOwner).ok());
    EXPECT_TRUE(WriteFileAtomically(path + ".authority", authority_.certificate).ok());
    return *TlsContext::Load(TlsUse::kNodes, {path + ".crt", path + ".key", path + ".authority"},
                             [world = &world_] { return world->wall_time(); });
  }

 private:
  static constexpr int64_t kHourNs = 3'600'000'000'000;
  SimWorld& world_;
  const Validity validity_;
  const KeyAndCertificate authority_;
};

TEST_F(SimulatedEtcdTest, TlsDemandsACertificateForTheServersAddress) {
  for (const bool is_right : {true, false}) {
    Simulator simulator(7);
    const Certificates certificates(simulator.AddHost({.name = "clock"}));
    const Endpoint next{simulator.host("clock").address() + 1, 0};
    std::string address = next.ToString();
    address.resize(address.rfind(':'));
    SimulatedEtcd etcd(simulator, "etcd",
                       certificates.Make("server", {is_right ? address : "10.9.9.9"}));
    ASSERT_EQ(etcd.endpoint().address, next.address);
    endpoints_ = {etcd.endpoint()};
    tls_ = certificates.Make("client", {});
    const auto bed = ChannelBed::MakeSimulated(simulator, Open());
    bed->Add("a");
    bed->Publish("a", "of a");
    EXPECT_EQ(bed->AllHear({"a"}, "of a", seconds(5)), is_right);
    EXPECT_EQ(etcd.request_count() > 0, is_right) << "nothing is said to another server";
  }
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

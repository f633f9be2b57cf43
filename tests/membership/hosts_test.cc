// Nodes as processes on hosts of their own, in network namespaces at a switch: they find each other
// by real multicast, or by an etcd on another host, and links are taken down.

#include <gtest/gtest.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "neptune/world/network.h"
#include "tools/chaos/server_process.h"
#include "tools/cluster/offered_replicas.h"
#include "tools/http/http_get.h"
#include "tools/process/linked_hosts.h"

namespace search {
namespace {

using neptune::StrCat;

constexpr char kEtcd[] = "/usr/bin/etcd";
constexpr char kNeptuned[] = "neptune/node/neptuned";
constexpr int kLimitS = 60;
// Longer than a silent node is borne and probed.
constexpr int kBorneS = 8;
// A host each, in this order; the directory's is the next.
constexpr const char* kNodes[] = {"one", "two", "three"};
constexpr size_t kDirectoryHost = std::size(kNodes);
const std::set<std::string> kAll = {"one", "two", "three"};

double NowS() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Polls until `holds` returns true or the time is over.
bool Until(const std::function<bool()>& holds, double limit_s) {
  for (const double end_s = NowS() + limit_s; !holds(); poll(nullptr, 0, 50)) {
    if (NowS() > end_s) return false;
  }
  return true;
}

bool Always(const std::function<bool()>& holds, double length_s) {
  return !Until([&] { return !holds(); }, length_s);
}

class HostsTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (has_directory() && access(kEtcd, X_OK) != 0) GTEST_SKIP() << "SKIPPED: no etcd";
    auto hosts = lab::LinkedHosts::Make(std::size(kNodes) + 1);
    if (!hosts.ok()) GTEST_SKIP() << "SKIPPED: " << hosts.status();
    hosts_ = *std::move(hosts);
    folder_ = StrCat(testing::TempDir(), "/hosts-", getpid());
    std::filesystem::create_directories(folder_);
    if (has_directory()) StartDirectory();
    WriteSpec();
    for (size_t i = 0; i < std::size(kNodes); ++i) StartNode(i);
  }
  void TearDown() override {
    processes_.clear();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  static bool has_directory() { return GetParam() == "Etcd"; }
  std::string AddressOf(size_t host) const {
    const std::string text = neptune::Endpoint{hosts_->address(host), 0}.ToString();
    return text.substr(0, text.find(':'));
  }
  chaos::ServerProcess& process(const std::string& name) { return *processes_.at(name); }

  // The nodes in that node's yellow page, itself included; empty if it does not answer.
  std::set<std::string> KnownTo(size_t node) const {
    std::set<std::string> known;
    hosts_->RunIn(node, [&] {
      const auto origin = tools::ParseHttpOrigin(StrCat(AddressOf(node), ":", kAdminPort));
      const auto page = tools::HttpGet(*origin, tools::kYellowPagePath, {},
                                       {.timeout = std::chrono::milliseconds(3000)});
      if (!page.ok()) return;
      const auto offered = tools::ParseYellowPage(page->body);
      if (!offered.ok()) return;
      for (const auto& [replica, implementation] : *offered) known.insert(replica.node);
    });
    return known;
  }
  // Whether each of them knows just these.
  bool AllKnow(const std::set<std::string>& expected) const {
    for (size_t i = 0; i < std::size(kNodes); ++i) {
      if (expected.contains(kNodes[i]) && KnownTo(i) != expected) return false;
    }
    return true;
  }
  bool SoonAllKnow(const std::set<std::string>& expected) const {
    return Until([&] { return AllKnow(expected); }, kLimitS);
  }
  void SetLink(size_t host, bool is_up) const {
    const neptune::Status status = hosts_->SetLink(host, is_up);
    EXPECT_TRUE(status.ok()) << status;
  }

 private:
  static constexpr int kAdminPort = 7501;

  void Start(const std::string& name, std::vector<std::string> arguments, size_t host) {
    processes_[name] = std::make_unique<chaos::ServerProcess>(
        std::move(arguments), StrCat(folder_, "/", name, ".log"), hosts_->descriptor(host));
    const neptune::Status status = processes_[name]->Start();
    ASSERT_TRUE(status.ok()) << status;
  }

  void StartDirectory() {
    const std::string at = StrCat("http://", AddressOf(kDirectoryHost), ":2379");
    const std::string peer = StrCat("http://", AddressOf(kDirectoryHost), ":2380");
    Start("etcd",
          {kEtcd, "--data-dir", folder_ + "/etcd", "--listen-client-urls", at,
           "--advertise-client-urls", at, "--listen-peer-urls", peer,
           "--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer},
          kDirectoryHost);
  }

  void WriteSpec() const {
    std::string text =
        "name: 'hosts' trust_network: true admin_access: 'network' "
        "services { name: 'echo' module: 'echo' } ";
    text += has_directory() ? StrCat("membership { directory: 'etcd' etcd_endpoints: '",
                                     AddressOf(kDirectoryHost), ":2379' } ")
                            : "multicast_group: '239.192.7.9:7400' ";
    for (const char* node : kNodes) {
      text += StrCat("nodes { name: '", node, "' admin_port: ", kAdminPort,
                     " hosts { service: 'echo' } } ");
    }
    ASSERT_TRUE(neptune::WriteFileAtomically(folder_ + "/spec", text).ok());
  }

  void StartNode(size_t node) {
    Start(kNodes[node],
          {kNeptuned, StrCat("--spec=", folder_, "/spec"), StrCat("--node=", kNodes[node]),
           StrCat("--address=", AddressOf(node)), StrCat("--data_dir=", folder_, "/data"),
           "--allow_root"},
          node);
  }

  std::unique_ptr<lab::LinkedHosts> hosts_;
  std::string folder_;
  std::map<std::string, std::unique_ptr<chaos::ServerProcess>> processes_;
};

TEST_P(HostsTest, NodeThatIsUnpluggedGoesAndComesBack) {
  ASSERT_TRUE(SoonAllKnow(kAll));
  SetLink(1, false);
  EXPECT_TRUE(SoonAllKnow({"one", "three"}));
  SetLink(1, true);
  EXPECT_TRUE(SoonAllKnow(kAll));
}

class DirectoryHostsTest : public HostsTest {};

TEST_P(DirectoryHostsTest, NodesThatLoseTheirDirectoryKeepEachOther) {
  ASSERT_TRUE(SoonAllKnow(kAll));
  SetLink(kDirectoryHost, false);
  EXPECT_TRUE(Always([&] { return AllKnow(kAll); }, kBorneS));
  process("two").Kill();
  EXPECT_TRUE(SoonAllKnow({"one", "three"}));
  const neptune::Status again = process("two").Start();
  ASSERT_TRUE(again.ok()) << again;
  SetLink(kDirectoryHost, true);
  EXPECT_TRUE(SoonAllKnow(kAll));
}

INSTANTIATE_TEST_SUITE_P(All, HostsTest, testing::Values("Multicast", "Etcd"),
                         [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(All, DirectoryHostsTest, testing::Values("Etcd"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace search

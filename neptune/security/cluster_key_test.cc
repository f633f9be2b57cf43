#include "neptune/security/cluster_key.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "neptune/base/strings.h"
#include "neptune/security/datagram_seal.h"

namespace neptune {
namespace {

constexpr char kOld[] = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
constexpr char kNew[] = "F0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFFE0E1E2E3E4E5E6E7E8E9EAEBECEDEEEF";

ClusterMac MacOf(std::string_view contents) {
  return ClusterMac(*ClusterKeys::Parse(contents, "test"));
}

std::string Reason(std::string_view contents) {
  const auto keys = ClusterKeys::Parse(contents, "test");
  return keys.ok() ? "taken" : std::string(keys.status().message());
}

TEST(ClusterKeyTest, HexadecimalAndRawKeysAreTheSame) {
  std::string raw;
  for (int i = 0; i < 32; ++i) raw.push_back(static_cast<char>(i));
  EXPECT_EQ(ClusterKeys::Parse(StrCat(" ", kOld, "\n"), "test")->keys()[0], raw);
  EXPECT_EQ(ClusterKeys::Parse(raw, "test")->keys()[0], raw);
}

TEST(ClusterKeyTest, TwoKeysTheFirstFirst) {
  const auto keys = ClusterKeys::Parse(StrCat(kNew, "\n", kOld, "\n"), "test");
  ASSERT_TRUE(keys.ok());
  EXPECT_EQ(keys->keys()[0][0], '\xf0');
  EXPECT_EQ(keys->keys()[1][0], '\0');
}

TEST(ClusterKeyTest, GuessableKeysAreRefused) {
  EXPECT_NE(Reason("").find("holds 0 keys"), std::string::npos);
  EXPECT_NE(Reason("correct horse battery staple correct horse").find("hexadecimal"),
            std::string::npos);
  EXPECT_NE(Reason(std::string(64, '0')).find("not random"), std::string::npos);
  EXPECT_NE(Reason(std::string_view(kOld).substr(2)).find("31 bytes"), std::string::npos);
  EXPECT_NE(Reason(std::string_view(kOld).substr(1)).find("odd"), std::string::npos);
  EXPECT_NE(Reason("\x80\x81 short raw").find("bytes"), std::string::npos);
  EXPECT_NE(Reason(StrCat(kOld, " ", kOld)).find("twice"), std::string::npos);
  EXPECT_NE(Reason(StrCat(kOld, " ", kNew, " ", kOld)).find("3 keys"), std::string::npos);
}

TEST(ClusterKeyTest, NoReasonShowsTheKey) {
  const std::string with_mistake = StrCat(std::string_view(kNew).substr(0, 63), "z");
  EXPECT_EQ(Reason(with_mistake).find("F0F1"), std::string::npos);
}

TEST(ClusterKeyTest, AFileThatOthersMayReadIsRefused) {
  const std::string path = (std::filesystem::path(testing::TempDir()) / "key").string();
  std::ofstream(path) << kOld;
  chmod(path.c_str(), 0640);
  const auto open = LoadClusterKeys(path);
  EXPECT_EQ(open.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_NE(open.status().message().find("chmod 600"), absl::string_view::npos);
  chmod(path.c_str(), 0600);
  EXPECT_TRUE(LoadClusterKeys(path).ok());
}

// Expected value from Python: hmac.new(bytes(range(32)), b'Hi There', sha256).
TEST(ClusterMacTest, IsHmacSha256OverAllParts) {
  ClusterMac mac = MacOf(kOld);
  const Mac whole = mac.Of(0, {"Hi There"});
  EXPECT_EQ(whole, mac.Of(0, {"Hi", " ", "There"}));
  std::string hex;
  for (const char byte : whole) {
    constexpr char kDigits[] = "0123456789abcdef";
    hex += kDigits[static_cast<unsigned char>(byte) >> 4];
    hex += kDigits[byte & 15];
  }
  EXPECT_EQ(hex, "278639ec02309d3afded1b273f1349ba63b9089c12476d716bee3ecc94673e9e");
}

TEST(DatagramSealTest, OpensUnderAnyCommonKey) {
  ClusterMac old = MacOf(kOld);
  ClusterMac both = MacOf(StrCat(kNew, "\n", kOld));
  ClusterMac fresh = MacOf(kNew);
  EXPECT_EQ(*OpenDatagramSeal(SealDatagram("said", both), old), "said");
  EXPECT_EQ(*OpenDatagramSeal(SealDatagram("said", old), both), "said");
  EXPECT_EQ(*OpenDatagramSeal(SealDatagram("said", both), fresh), "said");
  EXPECT_FALSE(OpenDatagramSeal(SealDatagram("said", old), fresh).ok());
  EXPECT_LE(SealDatagram("", both).size(), kSealSizeMax);
}

TEST(DatagramSealTest, EveryBitIsCovered) {
  ClusterMac mac = MacOf(kOld);
  const std::string sealed = SealDatagram("an announcement", mac);
  for (size_t bit = 0; bit < sealed.size() * 8; ++bit) {
    std::string changed = sealed;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(OpenDatagramSeal(changed, mac).ok()) << "bit " << bit;
  }
  for (size_t size = 0; size < sealed.size(); ++size) {
    EXPECT_FALSE(OpenDatagramSeal(std::string_view(sealed).substr(0, size), mac).ok()) << size;
  }
}

TEST(ClusterKeyTest, DerivedSecretsDifferByKeyAndPurpose) {
  const auto secrets = [](const std::string& contents, std::string_view purpose) {
    return DeriveSecrets(*ClusterKeys::Parse(contents, "test"), purpose);
  };
  const std::string both = StrCat(kNew, "\n", kOld, "\n");
  ASSERT_EQ(secrets(both, "cache").size(), 2u);
  EXPECT_EQ(secrets(both, "cache")[1], secrets(kOld, "cache")[0]) << "of each key alone";
  EXPECT_NE(secrets(both, "cache")[0], secrets(both, "cache")[1]);
  EXPECT_NE(secrets(kOld, "cache")[0], secrets(kOld, "other")[0]);
  EXPECT_EQ(secrets(kOld, "cache")[0].size(), 32u);
}

}  // namespace
}  // namespace neptune

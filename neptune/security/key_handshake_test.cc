#include "neptune/security/key_handshake.h"

#include <gtest/gtest.h>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

constexpr char kOld[] = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
constexpr char kNew[] = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeffe0e1e2e3e4e5e6e7e8e9eaebecedeeef";

ClusterMac MacOf(std::string_view contents) {
  return ClusterMac(*ClusterKeys::Parse(contents, "test"));
}

Nonce NonceOf(char byte) {
  Nonce nonce;
  nonce.fill(byte);
  return nonce;
}

struct Ends {
  explicit Ends(std::string_view caller_keys, std::string_view server_keys)
      : caller_mac(MacOf(caller_keys)), server_mac(MacOf(server_keys)) {}
  // Runs both ends, passing `at_once` bytes at a time.
  void Run(size_t at_once) { Pass(caller.Begin(), server, caller, at_once); }
  static void Pass(const std::string& bytes, KeyHandshake& to, KeyHandshake& back, size_t at_once) {
    std::string answer;
    for (size_t at = 0; at < bytes.size(); at += at_once) {
      if (to.done() || !to.failure().ok()) return;
      answer += to.Take(std::string_view(bytes).substr(at, at_once));
    }
    if (!answer.empty()) Pass(answer, back, to, at_once);
  }
  ClusterMac caller_mac;
  ClusterMac server_mac;
  KeyHandshake caller{HandshakeRole::kCaller, caller_mac, NonceOf('c')};
  KeyHandshake server{HandshakeRole::kServer, server_mac, NonceOf('s')};
};

TEST(KeyHandshakeTest, BothEndsAgreeHoweverTheBytesAreCut) {
  for (const size_t at_once : {1, 7, 1000}) {
    Ends ends(kOld, kOld);
    ends.Run(at_once);
    EXPECT_TRUE(ends.caller.done() && ends.server.done()) << at_once;
  }
}

TEST(KeyHandshakeTest, OneCommonKeySuffices) {
  const std::string both = StrCat(kNew, "\n", kOld);
  for (const auto& [caller, server] : {std::pair<std::string, std::string>{kOld, both},
                                       {both, kOld},
                                       {both, both},
                                       {kNew, both},
                                       {both, kNew}}) {
    Ends ends(caller, server);
    ends.Run(1000);
    EXPECT_TRUE(ends.caller.done() && ends.server.done());
  }
}

TEST(KeyHandshakeTest, BothEndsReportThatTheirKeysDiffer) {
  Ends ends(kOld, kNew);
  ends.Run(1000);
  EXPECT_EQ(ends.server.failure().message(),
            "the caller has none of the cluster keys of this node");
  EXPECT_EQ(ends.caller.failure().message(),
            "the server has none of the cluster keys of this node");
}

TEST(KeyHandshakeTest, BytesAfterTheProofAreLeft) {
  Ends ends(kOld, kOld);
  const std::string proof = ends.caller.Take(ends.server.Take(ends.caller.Begin()));
  ends.server.Take(proof + "first request");
  EXPECT_TRUE(ends.server.done());
  EXPECT_EQ(ends.server.rest(), "first request");
}

TEST(KeyHandshakeTest, AProofOfAnotherConnectionIsRefused) {
  Ends before(kOld, kOld);
  const std::string hello = before.caller.Begin();
  const std::string proof = before.caller.Take(before.server.Take(hello));
  ClusterMac mac = MacOf(kOld);
  KeyHandshake server(HandshakeRole::kServer, mac, NonceOf('t'));
  server.Take(hello);
  server.Take(proof);
  EXPECT_FALSE(server.done());
  EXPECT_EQ(server.failure().message(), "the caller failed to prove the cluster key it names");
}

TEST(KeyHandshakeTest, AnswerOfAnotherServerIsRefused) {
  Ends before(kOld, kOld);
  const std::string answer = before.server.Take(before.caller.Begin());
  ClusterMac mac = MacOf(kOld);
  KeyHandshake caller(HandshakeRole::kCaller, mac, NonceOf('d'));
  caller.Begin();
  EXPECT_EQ(caller.Take(answer), "");
  EXPECT_EQ(caller.failure().message(), "the server failed to prove the cluster key it names");
}

// An attacker reflects the server's own messages, or opens a second connection to obtain an answer.
TEST(KeyHandshakeTest, ReflectedMessagesAreRefused) {
  Ends ends(kOld, kOld);
  const std::string answer = ends.server.Take(ends.caller.Begin());
  ends.server.Take(std::string_view(answer).substr(answer.size() - sizeof(Mac)));
  EXPECT_FALSE(ends.server.failure().ok());
  KeyHandshake caller(HandshakeRole::kCaller, ends.caller_mac, NonceOf('e'));
  EXPECT_EQ(caller.Take(caller.Begin()), "");
  EXPECT_FALSE(caller.done());
}

TEST(KeyHandshakeTest, ProofsHoldForTheirCarrierOnly) {
  ClusterMac mac = MacOf(kOld);
  KeyHandshake caller(HandshakeRole::kCaller, mac, NonceOf('c'), "one TLS connection");
  KeyHandshake server(HandshakeRole::kServer, mac, NonceOf('s'), "another");
  caller.Take(server.Take(caller.Begin()));
  EXPECT_EQ(caller.failure().message(), "the server failed to prove the cluster key it names");
}

TEST(KeyHandshakeTest, ACallerWithoutAKeyIsRefusedAtItsFirstByte) {
  ClusterMac mac = MacOf(kOld);
  KeyHandshake server(HandshakeRole::kServer, mac, NonceOf('s'));
  server.Take("NPT1");
  EXPECT_EQ(server.failure().message(), "the peer does not use cluster keys");
}

TEST(KeyHandshakeTest, EveryChangedBitOfTheHandshakeFails) {
  const size_t sizes[] = {46, 78, 32};
  for (int message = 0; message < 3; ++message) {
    for (size_t bit = 0; bit < sizes[message] * 8; ++bit) {
      Ends ends(kOld, kOld);
      const auto change = [&](std::string bytes, int number) {
        if (number == message) bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
        return bytes;
      };
      std::string answer = ends.server.Take(change(ends.caller.Begin(), 0));
      if (answer.empty()) continue;
      ASSERT_TRUE(message != 1 || answer.size() == sizes[1]);
      const std::string proof = ends.caller.Take(change(answer, 1));
      if (proof.empty()) continue;
      ends.server.Take(change(proof, 2));
      EXPECT_FALSE(ends.caller.done() && ends.server.done()) << message << " bit " << bit;
    }
  }
}

}  // namespace
}  // namespace neptune

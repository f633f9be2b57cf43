// Handshake in which the two ends of a new connection prove to each other that they know the
// cluster's key.
//
//   caller                                                   server
//     hello:  "NPS1" 1 count caller's nonce, key ids   ───►
//             ◄───  answer: "NPS1" 1 verdict, and if it is 0: key id, server's nonce and proof
//     proof:  32 bytes                                 ───►  then the connection's own bytes
//
//   server's proof = HMAC(key, "neptune server 1" hello answer-up-to-here binding)
//   caller's proof = HMAC(key, "neptune caller 1" hello answer binding)
//
// Both nonces are in both proofs, so a proof cannot be replayed; the labels of the roles differ, so
// it cannot be reflected to its author. The caller may send data immediately after its proof: the
// handshake costs one round trip. `binding` ties the proofs to the transport (for TLS: RFC 5705
// exported bytes), which prevents a man in the middle. It is empty for plain TCP, where an attacker
// who can modify packets can take over a connection after its handshake.
//
// Source: ISO/IEC 9798-4 (mutual authentication with three passes and a check function).
// Pure: no I/O, no clock, no random numbers. SecureNetwork enforces a deadline.
// Threads: thread-compatible.
// Errors: kUnavailable, so that callers try another node; the message says which end lacks what.
// Limits: consumes at most kHandshakeSizeMax bytes before it completes.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "neptune/base/status.h"
#include "neptune/security/cluster_key.h"

namespace neptune {

inline constexpr uint32_t kHandshakeMagic = 0x4e505331;  // "NPS1"
inline constexpr size_t kNonceSize = 32;
inline constexpr size_t kHandshakeSizeMax = 128;
using Nonce = std::array<char, kNonceSize>;

enum class HandshakeRole { kCaller, kServer };

class KeyHandshake {
 public:
  // `nonce` must be unpredictable and never reused. `mac` must outlive the handshake.
  KeyHandshake(HandshakeRole role, ClusterMac& mac, const Nonce& nonce, std::string binding = "");

  // Returns the first message; empty for a server.
  std::string Begin();
  // Consumes bytes from the peer and returns the bytes to send, also on failure, so that the peer
  // learns the reason. REQUIRES: neither done nor failed.
  std::string Take(std::string_view bytes);

  bool done() const { return done_; }
  // Reason of the failure; OK until then.
  const Status& failure() const { return failure_; }
  // Once done: bytes that followed the handshake.
  std::string_view rest() const { return received_; }

 private:
  std::string HandleHello();
  std::string HandleAnswer();
  void HandleProof();
  std::string Refuse(uint8_t verdict, Status why);
  // Returns true once `size` bytes are available; fails at once if they cannot begin a handshake
  // message.
  bool Holds(size_t size);
  Mac ProofOf(HandshakeRole role) const;

  const HandshakeRole role_;
  ClusterMac& mac_;
  const Nonce nonce_;
  const std::string binding_;
  std::string received_;  // received and not consumed yet
  std::string hello_;
  std::string answer_;  // empty until it was sent or received
  size_t key_ = 0;
  bool done_ = false;
  Status failure_;
};

}  // namespace neptune

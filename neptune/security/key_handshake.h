// How the two ends of a fresh connection prove to each other that they know the cluster's key.
//
//   caller                                                   server
//     hello:  "NPS1" 1 count caller's nonce, key ids   ───►
//             ◄───  answer: "NPS1" 1 verdict, and if that is 0: key id, server's nonce, server's proof
//     proof:  32 bytes                                 ───►  from here on the connection's own bytes
//
//   server's proof = HMAC(key, "neptune server 1" hello answer-up-to-here binding)
//   caller's proof = HMAC(key, "neptune caller 1" hello answer binding)
//
// Both nonces are in both proofs, so none can be used again; the roles' labels differ, so none can be sent back to who
// made it. The caller may go on at once behind its proof: one round trip in all. `binding` ties the proofs to what
// carries the connection (of TLS: RFC 5705 exported bytes), so that nobody stands in the middle; empty for plain TCP,
// where who can change packets on their way can take over a connection after its handshake.
//
// Source: ISO/IEC 9798-4 (mutual authentication with three passes and a check function).
// Bytes in, bytes out; no I/O, no clock, no chance. SecureNetwork gives it a deadline.
// Threads: thread-compatible.
// Errors: kUnavailable, so that connecting is tried elsewhere: says which end lacks what.
// Limits: takes at most kHandshakeSizeMax bytes before it ends.

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
  // `nonce` was never used before, and nobody could guess it. `mac` outlives the handshake.
  KeyHandshake(HandshakeRole role, ClusterMac& mac, const Nonce& nonce, std::string binding = "");

  // What the end sends first; a server nothing.
  std::string Begin();
  // Takes bytes of the other end; gives what is to be sent, also when it fails, so that the other end learns why.
  // REQUIRES: neither done nor failed.
  std::string Take(std::string_view bytes);

  bool done() const { return done_; }
  // Why it failed; OK until then.
  const Status& failure() const { return failure_; }
  // Once done: bytes that came behind the handshake.
  std::string_view rest() const { return received_; }

 private:
  std::string HandleHello();
  std::string HandleAnswer();
  void HandleProof();
  std::string Refuse(uint8_t verdict, Status why);
  // False until as many bytes are there; fails at once if they begin as no message of a handshake does.
  bool Holds(size_t size);
  Mac ProofOf(HandshakeRole role) const;

  const HandshakeRole role_;
  ClusterMac& mac_;
  const Nonce nonce_;
  const std::string binding_;
  std::string received_;  // and not taken yet
  std::string hello_;
  std::string answer_;  // empty until it was sent or came
  size_t key_ = 0;
  bool done_ = false;
  Status failure_;
};

}  // namespace neptune

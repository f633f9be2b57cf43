// Arbitrary bytes to either end of a handshake, in pieces of any size, and arbitrary bytes as a
// sealed datagram: without the key the handshake never succeeds, and memory stays bounded.
//
// First byte: bit 0 the receiving end (0 server, 1 caller), bits 1-3 the size of the pieces less
// one.

#include <glog/logging.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "neptune/security/datagram_seal.h"
#include "neptune/security/key_handshake.h"

namespace neptune {
namespace {

ClusterMac MakeMac() {
  std::string key;
  for (int i = 0; i < 32; ++i) key.push_back(static_cast<char>(0x80 + i));
  return ClusterMac(*ClusterKeys::Parse(key, "fuzz"));
}

}  // namespace
}  // namespace neptune

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace neptune;
  if (size == 0) return 0;
  static auto& mac = *new ClusterMac(MakeMac());
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  CHECK(!OpenDatagramSeal(bytes, mac).ok());
  Nonce nonce;
  nonce.fill('n');
  const bool calls = (data[0] & 1) != 0;
  KeyHandshake end(calls ? HandshakeRole::kCaller : HandshakeRole::kServer, mac, nonce);
  size_t sent = end.Begin().size();
  const size_t piece = 1 + (data[0] >> 1 & 7);
  size_t taken = 0;
  while (!bytes.empty() && !end.done() && end.failure().ok()) {
    sent += end.Take(bytes.substr(0, piece)).size();
    bytes.remove_prefix(std::min(piece, bytes.size()));
    taken += piece;
    CHECK_LE(taken, kHandshakeSizeMax + piece) << "the handshake does not end";
  }
  CHECK(!end.done()) << "authenticated without the key";
  CHECK_LE(sent, kHandshakeSizeMax);
  return 0;
}

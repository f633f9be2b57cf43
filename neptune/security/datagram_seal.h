// Sealed datagrams: bytes with a proof that a node of the cluster wrote them.
//
//   | bytes | code under 1st key (16) | code under 2nd (16), if any | number of codes (1) |
//
// A code is the first 16 bytes of HMAC-SHA256 over "neptune datagram 1" and the bytes. Sealed bytes
// are not encrypted, and anyone who receives them can replay them: the contents must limit how long
// they are valid.
//
// Source: RFC 2104, 5 (codes cut to half).
// No I/O.
// Threads: see ClusterMac.
// Errors: kDataLoss the bytes are not sealed, or only under keys unknown here.
// Limits: sealing adds at most kSealSizeMax bytes.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "neptune/base/status.h"
#include "neptune/security/cluster_key.h"

namespace neptune {

inline constexpr size_t kSealCodeSize = 16;
inline constexpr size_t kSealSizeMax = kClusterKeyCountMax * kSealCodeSize + 1;

std::string SealDatagram(std::string_view bytes, ClusterMac& mac);
// Returns the sealed contents, a part of `sealed`.
StatusOr<std::string_view> OpenDatagramSeal(std::string_view sealed, ClusterMac& mac);

}  // namespace neptune

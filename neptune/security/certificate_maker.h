// Makes a cluster's own authority, and certificates that it signs.
//
// Source: RFC 5280. Keys are on P-256, signatures ECDSA with SHA-256.
// No I/O; keys are of OpenSSL's own chance.
// Threads: pure functions.
// Errors: kInvalidArgument a name that no certificate can hold, or an authority that cannot be read.
// Limits: names of at most 64 bytes.

#pragma once

#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace neptune {

// In PEM.
struct KeyAndCertificate {
  std::string key;
  std::string certificate;
};

struct Validity {
  WallTime from;
  WallTime until;
};

StatusOr<KeyAndCertificate> MakeAuthority(const std::string& name, const Validity& validity);

// For both ends of connections. `hosts` are names and IP addresses under which users ask for it, for web servers.
StatusOr<KeyAndCertificate> MakeCertificate(const KeyAndCertificate& authority,
                                            const std::string& name,
                                            const std::vector<std::string>& hosts,
                                            const Validity& validity);

}  // namespace neptune

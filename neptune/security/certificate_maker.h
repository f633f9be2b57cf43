// Creates a cluster's own certificate authority, and certificates signed by it.
//
// Source: RFC 5280. Keys are on P-256, signatures ECDSA with SHA-256.
// No I/O; keys come from OpenSSL's random generator.
// Threads: pure functions.
// Errors: kInvalidArgument the name is not valid in a certificate, or the authority cannot be read.
// Limits: names of at most 64 bytes.

#pragma once

#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace neptune {

// PEM texts.
struct KeyAndCertificate {
  std::string key;
  std::string certificate;
};

struct Validity {
  WallTime from;
  WallTime until;
};

StatusOr<KeyAndCertificate> MakeAuthority(const std::string& name, const Validity& validity);

// The certificate is for both ends of connections. For web servers, `hosts` lists the names and IP
// addresses that users connect to.
StatusOr<KeyAndCertificate> MakeCertificate(const KeyAndCertificate& authority,
                                            const std::string& name,
                                            const std::vector<std::string>& hosts,
                                            const Validity& validity);

}  // namespace neptune

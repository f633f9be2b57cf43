// Certificates of one end of TLS connections, and the rules for accepting the other end.
//
// Between nodes: TLS 1.3; both ends present certificates that the cluster's authority signed and
// that are valid at the world's time. Every such certificate is a full member. Web servers: TLS 1.2
// or 1.3, only the server presents a certificate. The files are checked for changes when a
// connection is made, at most once a second: changed files are loaded without a restart, and broken
// ones are reported and ignored.
//
// Source: RFC 8446 (TLS 1.3), RFC 5280 (certificates). OpenSSL does the cryptography.
// Reads files, and therefore blocks briefly.
// Threads: thread-safe.
// Errors: Load: those of reading the files; INVALID_ARGUMENT with the name of the invalid file, or
//   with the reason why the certificate would be refused under its own authority.

#pragma once

#include <openssl/types.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace neptune {

enum class TlsUse { kNodes, kWebServer };

// Paths of PEM files. Only the owner may read the key; the authority is for kNodes only.
struct TlsFiles {
  std::string certificate;
  std::string key;
  std::string authority;
};

struct FreeTlsSession {
  void operator()(SSL* session) const;
};
using TlsSession = std::unique_ptr<SSL, FreeTlsSession>;

class TlsContext {
 public:
  using Clock = std::function<WallTime()>;

  static StatusOr<std::shared_ptr<TlsContext>> Load(TlsUse use, TlsFiles files, Clock clock);
  ~TlsContext();

  // Makes the session of one connection.
  TlsSession MakeSession(bool accepts);
  // Returns the certificate's subject and expiry time, for status pages.
  std::string Describe();
  // Seconds until the certificate expires; negative once it has.
  double SecondsLeft();

 private:
  struct Loaded;
  TlsContext(TlsUse use, TlsFiles files, Clock clock);
  StatusOr<std::shared_ptr<Loaded>> LoadFiles() const;
  std::shared_ptr<Loaded> Current();
  // Changes whenever one of the files does.
  std::string Fingerprint() const;

  const TlsUse use_;
  const TlsFiles files_;
  const Clock clock_;
  LeafMutex mutex_;
  std::shared_ptr<Loaded> loaded_ ABSL_GUARDED_BY(mutex_);
  std::string fingerprint_ ABSL_GUARDED_BY(mutex_);
  WallTime looked_at_ ABSL_GUARDED_BY(mutex_);
};

// Returns the reason of OpenSSL's last failure on this thread, and clears it.
std::string TlsErrorText();

}  // namespace neptune

// Certificates of one end of TLS connections, and the rules by which it believes others.
//
// Between nodes: TLS 1.3, both ends show certificates that the cluster's authority signed and that are valid at the
// world's time; any of them is a full member. Of a web server: TLS 1.2 or 1.3, its own certificate only. The files are
// looked at again for a new connection, at most once a second: changed ones are taken without a restart, and broken ones
// are reported and left alone.
//
// Source: RFC 8446 (TLS 1.3), RFC 5280 (certificates). OpenSSL does the cryptography.
// Reads files, and so blocks for a moment.
// Threads: thread-safe.
// Errors: Load: those of reading the files; INVALID_ARGUMENT naming the file that does not hold what it should, or why
//   the certificate is not one that its own authority would accept.

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

// In PEM. The key is its owner's alone; the authority is for kNodes only.
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

  // For one connection.
  TlsSession MakeSession(bool accepts);
  // Whom the certificate names, and until when it holds, for people.
  std::string Describe();
  // Seconds until the certificate expires; negative once it has.
  double SecondsLeft();

 private:
  struct Loaded;
  TlsContext(TlsUse use, TlsFiles files, Clock clock);
  StatusOr<std::shared_ptr<Loaded>> LoadFiles() const;
  std::shared_ptr<Loaded> Current();
  // Changes when one of the files does.
  std::string Fingerprint() const;

  const TlsUse use_;
  const TlsFiles files_;
  const Clock clock_;
  LeafMutex mutex_;
  std::shared_ptr<Loaded> loaded_ ABSL_GUARDED_BY(mutex_);
  std::string fingerprint_ ABSL_GUARDED_BY(mutex_);
  WallTime looked_at_ ABSL_GUARDED_BY(mutex_);
};

// Why OpenSSL's last call on this thread failed; takes the reason away.
std::string TlsErrorText();

}  // namespace neptune

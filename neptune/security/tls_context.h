// Certificates of one end of TLS connections, and the rules for accepting the other end.
//
// Between nodes: TLS 1.3; both ends present certificates that the cluster's authority signed and
// that are valid at the world's time. Every such certificate is a full member. Web servers: TLS 1.2
// or 1.3, only the server presents a certificate. Once KeepFresh was called the files are checked
// for changes each second: changed files are loaded without a restart, and broken ones are reported
// and ignored.
//
// Source: RFC 8446 (TLS 1.3), RFC 5280 (certificates). OpenSSL does the cryptography.
// Load reads files and therefore blocks; later reads block a helper thread (in the simulated world
// they take no time), never a loop.
// Threads: thread-safe; KeepFresh on a loop.
// Errors: Load: those of reading the files; INVALID_ARGUMENT with the name of the invalid file, or
//   with the reason why the certificate would be refused under its own authority.

#pragma once

#include <openssl/types.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/world/world.h"

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

// Returns the common name of the certificate's subject; empty if it has none, or several, of which
// the one that signed may have checked any.
std::string CommonNameOf(X509* certificate);

class TlsContext : public std::enable_shared_from_this<TlsContext> {
 public:
  using Clock = std::function<WallTime()>;

  static StatusOr<std::shared_ptr<TlsContext>> Load(TlsUse use, TlsFiles files, Clock clock);
  // REQUIRES: the loop of KeepFresh no longer runs, or this is called on it.
  ~TlsContext();

  // Checks the files each second from now on, by a timer of the calling loop. `world` outlives
  // this. REQUIRES: called at most once.
  void KeepFresh(World& world);
  // Makes the session of one connection. With an `address` the peer's certificate has to be for
  // this IP address.
  TlsSession MakeSession(bool accepts, const std::string& address = "");
  // Returns the certificate's subject and expiry time, for status pages.
  std::string Describe() const;
  // The common name of the own certificate.
  std::string OwnName() const;
  // Seconds until the certificate expires; negative once it has.
  double SecondsLeft() const;

 private:
  struct Loaded;
  TlsContext(TlsUse use, TlsFiles files, Clock clock);
  StatusOr<std::shared_ptr<Loaded>> LoadFiles() const;
  std::shared_ptr<Loaded> Current() const;
  void LookLater(Loop& loop);
  // Loads the files if they have changed; blocks.
  void Reload();
  // Changes whenever one of the files does.
  std::string Fingerprint() const;

  const TlsUse use_;
  const TlsFiles files_;
  const Clock clock_;
  std::string fingerprint_;  // of the files that were read last; used by one Reload at a time
  std::atomic<bool> is_reloading_{false};
  mutable LeafMutex mutex_;
  std::shared_ptr<Loaded> loaded_ ABSL_GUARDED_BY(mutex_);
  // Destroyed first: it waits for a Reload. Null in the simulated world.
  std::unique_ptr<HelperThreads> helpers_;
};

// Returns the reason of OpenSSL's last failure on this thread, and clears it.
std::string TlsErrorText();

}  // namespace neptune

// In-memory transport of a TLS session: received bytes and bytes to send, without copies.
//
// OpenSSL's memory BIO (BIO_s_mem) clears its whole capacity each time it is emptied, so on a
// connection that has carried one large message every small one costs the same.
//
// Threads: thread-compatible; used on the session's thread.
// Limits: none; written bytes are kept until they are taken.

#pragma once

#include <openssl/types.h>

#include <string>
#include <string_view>

namespace neptune {

struct TlsBytes {
  // Makes the session read from and write to *this, which must outlive it.
  void Attach(SSL* session);

  std::string_view come;  // not yet read by the session
  std::string to_send;
};

}  // namespace neptune

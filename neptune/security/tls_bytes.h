// The bytes on both sides of a TLS session that knows no socket: what came and what is to be sent, without copies.
//
// OpenSSL's own bytes in memory (BIO_s_mem) clear all that they ever grew to whenever they are emptied, so that on a
// connection that has carried one large message every small one costs as much.
//
// Threads: thread-compatible; those of the session.
// Limits: none of its own; what is written stays until it is taken.

#pragma once

#include <openssl/types.h>

#include <string>
#include <string_view>

namespace neptune {

struct TlsBytes {
  // Reads and writes of the session are of *this, which outlives it.
  void Attach(SSL* session);

  std::string_view come;  // not yet read by the session
  std::string to_send;
};

}  // namespace neptune

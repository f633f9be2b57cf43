// A stream that TLS encrypts over another one; OpenSSL works on bytes in memory and never sees a socket.
//
// Source: RFC 8446.
// Layer: security. Runs in both worlds; in the simulated one its bytes are of OpenSSL's own chance, so that runs of one
//   seed are alike in order and not in every byte.
// Threads: the loop of the stream below only.
// Errors: Secure: kUnavailable with the cause: whose certificate, and what is wrong with it, or what the peer said. An
//   open stream that is cut off without TLS's own end ends with kUnavailable.
// Limits: kTlsHandshakeSizeMax bytes until it is secured.

#pragma once

#include <memory>
#include <string>

#include "neptune/security/layered_stream.h"
#include "neptune/security/tls_context.h"

namespace neptune {

inline constexpr size_t kTlsHandshakeSizeMax = 64 * 1024;

class TlsStream final : public LayeredStream {
 public:
  TlsStream(Loop& loop, std::unique_ptr<Stream> below, TlsContext& context, bool accepts);

  void Write(std::string bytes) override;
  void Close() override;
  std::string Binding() const override;

 private:
  void Begin() override;
  void TakeBelow(std::string_view bytes) override;
  Status EndOf(const Status& reason) const override;
  void Advance();
  void TakeOpen();
  // Why the handshake failed.
  Status Failure();
  // All that can be read now.
  std::string ReadPlain();
  void Flush();

  const TlsSession session_;
  size_t handshake_size_ = 0;
};

}  // namespace neptune

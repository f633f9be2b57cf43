// A stream that TLS encrypts over another one; OpenSSL works on bytes in memory and never sees a socket.
//
// What is written in one turn of the loop leaves together, in records of up to kTlsRecordSize: many small messages cost one
// encryption and one write below.
//
// Source: RFC 8446.
// Runs in both worlds; in the simulated one its bytes are of OpenSSL's own chance, so that runs of one
//   seed are alike in order and not in every byte.
// Threads: the loop of the stream below only.
// Errors: Secure: kUnavailable with the cause: whose certificate, and what is wrong with it, or what the peer said. An
//   open stream that is cut off without TLS's own end ends with kUnavailable.
// Limits: kTlsHandshakeSizeMax bytes until it is secured.

#pragma once

#include <memory>
#include <string>

#include "neptune/security/layered_stream.h"
#include "neptune/security/tls_bytes.h"
#include "neptune/security/tls_context.h"

namespace neptune {

inline constexpr size_t kTlsHandshakeSizeMax = 64 * 1024;
inline constexpr size_t kTlsRecordSize = 16 * 1024;  // plain bytes of the largest record

class TlsStream final : public LayeredStream {
 public:
  TlsStream(Loop& loop, std::unique_ptr<Stream> below, TlsContext& context, bool accepts);

  void Write(std::string bytes) override;
  // Of plain bytes those that are not yet encrypted, of others those below.
  size_t unsent_size() const override { return gathered_.size() + LayeredStream::unsent_size(); }
  void Close() override;
  std::string Binding() const override;

 private:
  void Begin() override;
  void HandleBelow(std::string_view bytes) override;
  Status EndOf(const Status& reason) const override;
  void Advance();
  void HandleOpen();
  // Why the handshake failed.
  Status Failure();
  // All that can be read now.
  std::string ReadPlain();
  void Encrypt(std::string_view plain);
  void EncryptGathered();
  void Flush();

  TlsBytes bytes_;
  const TlsSession session_;
  std::string gathered_;  // written in this turn, less than a record
  bool encrypt_posted_ = false;
  size_t handshake_size_ = 0;
};

}  // namespace neptune

// TLS over another stream; OpenSSL works on bytes in memory and never sees a socket.
//
// Bytes written in one turn of the loop are sent together, in records of up to kTlsRecordSize: many
// small messages cost one encryption and one write below.
//
// Source: RFC 8446.
// Runs in both worlds. In the simulated one its bytes depend on OpenSSL's random numbers, so runs
// with the same seed agree in the order of events but not in every byte.
// Threads: only the loop of the stream below.
// Errors: Secure: kUnavailable with the cause: whose certificate is wrong and why, or the peer's
//   alert. An open stream that is closed without TLS close_notify ends with kUnavailable.
// Limits: kTlsHandshakeSizeMax bytes until it is secured.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "neptune/security/layered_stream.h"
#include "neptune/security/tls_bytes.h"
#include "neptune/security/tls_context.h"

namespace neptune {

inline constexpr size_t kTlsHandshakeSizeMax = 64 * 1024;
inline constexpr size_t kTlsRecordSize = 16 * 1024;  // maximum plaintext size of a record

class TlsStream final : public LayeredStream {
 public:
  // `address`: see TlsContext::MakeSession.
  TlsStream(Loop& loop, std::unique_ptr<Stream> below, TlsContext& context, bool accepts,
            const std::string& address = "");

  // A peer that does not begin with TLS is believed: its bytes are passed on as they are, and
  // is_encrypted is false. REQUIRES: it accepts; called before Secure.
  void TakePlain() { takes_plain_ = true; }

  void Write(std::string bytes) override;
  // Unencrypted bytes gathered in this turn, plus encrypted bytes not yet sent below.
  size_t unsent_size() const override { return gathered_.size() + LayeredStream::unsent_size(); }
  void Close() override;
  // The common name of the peer's certificate; none if it has shown none.
  std::optional<std::string> peer_name() const override;
  std::string Binding() const override;
  bool is_encrypted() const override { return !is_plain_; }

 private:
  void Begin() override;
  void HandleBelow(std::string_view bytes) override;
  Status EndOf(const Status& reason) const override;
  void Advance();
  void HandleOpen();
  // Returns the reason why the handshake failed.
  Status Failure();
  // Returns all plaintext that is available.
  std::string ReadPlain();
  void Encrypt(std::string_view plain);
  void EncryptGathered();
  void Flush();

  TlsBytes bytes_;
  const TlsSession session_;
  std::string gathered_;  // written in this turn; less than a record
  bool encrypt_posted_ = false;
  bool takes_plain_ = false;
  bool is_plain_ = false;  // the peer does not use TLS
  size_t handshake_size_ = 0;
};

}  // namespace neptune

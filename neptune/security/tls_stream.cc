#include "neptune/security/tls_stream.h"

#include <glog/logging.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <array>
#include <utility>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

constexpr std::string_view kBindingLabel = "EXPORTER-neptune-key-1";
constexpr size_t kBindingSize = 32;
constexpr char kHandshakeRecord = 0x16;  // the first byte of TLS (RFC 8446 5.1)

}  // namespace

TlsStream::TlsStream(Loop& loop, std::unique_ptr<Stream> below, TlsContext& context, bool accepts,
                     const std::string& address)
    : LayeredStream(loop, std::move(below)), session_(context.MakeSession(accepts, address)) {
  bytes_.Attach(session_.get());
}

void TlsStream::Begin() {
  ERR_clear_error();
  if (SSL_is_server(session_.get()) == 1) return;
  (void)SSL_do_handshake(session_.get());  // writes the first message; nothing can have arrived
  Flush();
}

void TlsStream::HandleBelow(std::string_view bytes) {
  if (is_plain_) return Deliver(bytes);
  if (takes_plain_ && handshake_size_ == 0 && !bytes.starts_with(kHandshakeRecord)) {
    is_plain_ = true;
    return Secured(bytes);
  }
  ERR_clear_error();
  bytes_.come = bytes;  // the session reads all of it, or it has ended
  if (!securing()) return HandleOpen();
  handshake_size_ += bytes.size();
  Advance();
}

void TlsStream::Advance() {
  const int result = SSL_do_handshake(session_.get());
  const int error = SSL_get_error(session_.get(), result);
  if (result != 1 && error != SSL_ERROR_WANT_READ) {
    const Status failure = Failure();
    Flush();  // sends the alert that tells the peer the reason
    return Fail(failure);
  }
  Flush();
  if (result == 1) return Secured(ReadPlain());
  if (handshake_size_ > kTlsHandshakeSizeMax) {
    Fail(Unavailable("the peer's TLS handshake exceeds ", kTlsHandshakeSizeMax, " bytes"));
  }
}

Status TlsStream::Failure() {
  const std::string text = TlsErrorText();
  const long verified = SSL_get_verify_result(session_.get());
  if (verified == X509_V_OK) return Unavailable("TLS: ", text);
  const char* const why = X509_verify_cert_error_string(verified);
  if (verified == X509_V_ERR_CERT_HAS_EXPIRED || verified == X509_V_ERR_CERT_NOT_YET_VALID) {
    return Unavailable("TLS: the other end's certificate is not valid now: ", why);
  }
  return Unavailable("TLS: the other end's certificate is not of this cluster's authority: ", why);
}

std::string TlsStream::ReadPlain() {
  std::string plain;
  std::array<char, 16 * 1024> piece;
  size_t size = 0;
  while (SSL_read_ex(session_.get(), piece.data(), piece.size(), &size) == 1) {
    plain.append(piece.data(), size);
  }
  return plain;
}

void TlsStream::HandleOpen() {
  const std::string plain = ReadPlain();
  const int error = SSL_get_error(session_.get(), 0);
  const std::string text = error == SSL_ERROR_SSL ? TlsErrorText() : "";
  Flush();
  if (error == SSL_ERROR_WANT_READ) {
    if (!plain.empty()) Deliver(plain);
    return;
  }
  if (error == SSL_ERROR_ZERO_RETURN) return EndOpen(plain, OkStatus());
  EndOpen(plain, Unavailable("connection to ", peer().ToString(), ": TLS: ", text));
}

void TlsStream::Write(std::string bytes) {
  if (is_plain_) return WriteBelow(std::move(bytes));
  if (gathered_.empty() && bytes.size() >= kTlsRecordSize) return Encrypt(bytes);
  gathered_ += bytes;
  if (gathered_.size() >= kTlsRecordSize) return EncryptGathered();
  if (gathered_.empty() || std::exchange(encrypt_posted_, true)) return;
  loop().Post([this, alive = alive()] {
    if (!*alive) return;
    encrypt_posted_ = false;
    EncryptGathered();
  });
}

void TlsStream::EncryptGathered() {
  if (!gathered_.empty()) Encrypt(gathered_);
  gathered_.clear();
}

void TlsStream::Encrypt(std::string_view plain) {
  ERR_clear_error();
  size_t written = 0;
  // The session has ended
  if (SSL_write_ex(session_.get(), plain.data(), plain.size(), &written) != 1) return;
  Flush();
}

void TlsStream::Flush() {
  if (!bytes_.to_send.empty()) WriteBelow(std::exchange(bytes_.to_send, {}));
}

void TlsStream::Close() {
  if (!securing() && !is_plain_) {
    EncryptGathered();
    ERR_clear_error();
    (void)SSL_shutdown(session_.get());
  }
  Flush();
  LayeredStream::Close();
}

Status TlsStream::EndOf(const Status& reason) const {
  if (!reason.ok() || is_plain_) return reason;
  return Unavailable("connection to ", peer().ToString(), ": closed without TLS close_notify");
}

std::optional<std::string> TlsStream::peer_name() const {
  X509* const certificate = SSL_get0_peer_certificate(session_.get());
  if (certificate == nullptr) return std::nullopt;
  return CommonNameOf(certificate);
}

std::string TlsStream::Binding() const {
  std::string binding(kBindingSize, '\0');
  const int made = SSL_export_keying_material(
      session_.get(), reinterpret_cast<unsigned char*>(binding.data()), binding.size(),
      kBindingLabel.data(), kBindingLabel.size(), nullptr, 0, 0);
  CHECK_EQ(made, 1) << TlsErrorText();
  return binding;
}

}  // namespace neptune

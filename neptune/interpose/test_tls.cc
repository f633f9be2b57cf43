#include "neptune/interpose/test_tls.h"

#include <glog/logging.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

namespace neptune::interpose {
namespace {

constexpr int kMessageCount = 20;

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Connection = std::unique_ptr<SSL, decltype(&SSL_free)>;

Certificate MakeCertificate(EVP_PKEY* key) {
  Certificate certificate(X509_new(), &X509_free);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 24 * 3600);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME* const name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  CHECK(X509_sign(certificate.get(), key, EVP_sha256()) > 0);
  return certificate;
}

Connection Open(SSL_CTX* context, int fd) {
  Connection connection(SSL_new(context), &SSL_free);
  CHECK(connection != nullptr && SSL_set_fd(connection.get(), fd) == 1);
  return connection;
}

std::string Message(uint64_t number, int index) {
  return std::to_string(number) + "/" + std::to_string(index) +
         std::string(1 + (number * 37 + index * 101) % 3000, 'm');
}

bool ReadAll(SSL* connection, std::string* message) {
  size_t done = 0;
  while (done < message->size()) {
    const int size =
        SSL_read(connection, message->data() + done, static_cast<int>(message->size() - done));
    if (size <= 0) return false;
    done += static_cast<size_t>(size);
  }
  return true;
}

}  // namespace

TestTls::TestTls()
    : server_(SSL_CTX_new(TLS_server_method())), client_(SSL_CTX_new(TLS_client_method())) {
  const Key key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  CHECK(key != nullptr);
  const Certificate certificate = MakeCertificate(key.get());
  CHECK(SSL_CTX_use_certificate(server_, certificate.get()) == 1);
  CHECK(SSL_CTX_use_PrivateKey(server_, key.get()) == 1);
  SSL_CTX_set_verify(client_, SSL_VERIFY_PEER, nullptr);
  CHECK(X509_STORE_add_cert(SSL_CTX_get_cert_store(client_), certificate.get()) == 1);
}

TestTls::~TestTls() {
  SSL_CTX_free(server_);
  SSL_CTX_free(client_);
}

void EchoOverTls(const TestTls& tls, int fd, uint64_t number) {
  const Connection connection = Open(tls.server(), fd);
  if (SSL_accept(connection.get()) != 1) {
    LOG(ERROR) << "handshake " << number << ": " << ERR_reason_error_string(ERR_get_error());
    return;
  }
  char data[4096];
  int size;
  while ((size = SSL_read(connection.get(), data, sizeof(data))) > 0) {
    if (SSL_write(connection.get(), data, size) != size) return;
  }
  SSL_shutdown(connection.get());
}

bool AskOverTls(const TestTls& tls, int fd, uint64_t number) {
  const Connection connection = Open(tls.client(), fd);
  if (SSL_connect(connection.get()) != 1 || SSL_get_verify_result(connection.get()) != X509_V_OK) {
    LOG(ERROR) << "handshake " << number << ": " << ERR_reason_error_string(ERR_get_error());
    return false;
  }
  for (int i = 0; i < kMessageCount; ++i) {
    const std::string message = Message(number, i);
    std::string answer(message.size(), ' ');
    const int size = static_cast<int>(message.size());
    if (SSL_write(connection.get(), message.data(), size) != size) return false;
    if (!ReadAll(connection.get(), &answer) || answer != message) return false;
  }
  return SSL_shutdown(connection.get()) >= 0 && SSL_shutdown(connection.get()) >= 0;
}

}  // namespace neptune::interpose

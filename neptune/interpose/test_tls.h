// TLS over blocking sockets, used as a client library uses OpenSSL.
//
// Threads: TestTls is shared; the functions on user-level threads.

#pragma once

#include <openssl/ssl.h>

#include <cstdint>

namespace neptune::interpose {

// Contexts for a server with a self-signed certificate and a client that trusts it.
class TestTls {
 public:
  TestTls();
  ~TestTls();
  TestTls(const TestTls&) = delete;
  TestTls& operator=(const TestTls&) = delete;

  SSL_CTX* server() const { return server_; }
  SSL_CTX* client() const { return client_; }

 private:
  SSL_CTX* server_ = nullptr;
  SSL_CTX* client_ = nullptr;
};

// Echoes messages on one connection until the peer closes it.
void EchoOverTls(const TestTls& tls, int fd, uint64_t number);
// Sends some messages derived from `number`. True if the handshake and all answers were right.
bool AskOverTls(const TestTls& tls, int fd, uint64_t number);

}  // namespace neptune::interpose

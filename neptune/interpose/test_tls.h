// TLS over blocking sockets, as a client library uses OpenSSL.
//
// Threads: TestTls is shared; the functions on user-level threads.

#pragma once

#include <openssl/ssl.h>

#include <cstdint>

namespace neptune::interpose {

// A server's certificate of its own making, and what a client needs to trust it.
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

// Serves one connection until the other side ends it: what comes goes back.
void EchoOverTls(const TestTls& tls, int fd, uint64_t number);
// Asks one connection some messages made of `number`. Whether the handshake and all answers were right.
bool AskOverTls(const TestTls& tls, int fd, uint64_t number);

}  // namespace neptune::interpose

#include "neptune/security/tls_bytes.h"

#include <glog/logging.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <cstring>

namespace neptune {
namespace {

TlsBytes& BytesOf(BIO* bio) { return *static_cast<TlsBytes*>(BIO_get_data(bio)); }

int Read(BIO* bio, char* buffer, size_t size, size_t* read) {
  std::string_view& come = BytesOf(bio).come;
  BIO_clear_retry_flags(bio);
  *read = std::min(size, come.size());
  if (*read == 0) {
    BIO_set_retry_read(bio);
    return 0;
  }
  std::memcpy(buffer, come.data(), *read);
  come.remove_prefix(*read);
  return 1;
}

int Write(BIO* bio, const char* bytes, size_t size, size_t* written) {
  BIO_clear_retry_flags(bio);
  BytesOf(bio).to_send.append(bytes, size);
  *written = size;
  return 1;
}

long Control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

const BIO_METHOD* Method() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* const made =
        BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "bytes of a TLS session");
    CHECK(made != nullptr) << "out of memory";
    BIO_meth_set_read_ex(made, &Read);
    BIO_meth_set_write_ex(made, &Write);
    BIO_meth_set_ctrl(made, &Control);
    return made;
  }();
  return method;
}

}  // namespace

void TlsBytes::Attach(SSL* session) {
  BIO* const bio = BIO_new(Method());
  CHECK(bio != nullptr) << "out of memory";
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(session, bio, bio);  // the session takes ownership
}

}  // namespace neptune

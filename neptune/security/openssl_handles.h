// OpenSSL objects as unique_ptr types.
//
// Threads: see OpenSSL.

#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>

namespace neptune {

template <auto kFree>
struct OpensslFree {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};

using Bio = std::unique_ptr<BIO, OpensslFree<BIO_free>>;
using Certificate = std::unique_ptr<X509, OpensslFree<X509_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, OpensslFree<EVP_PKEY_free>>;

}  // namespace neptune

#include "neptune/security/certificate_maker.h"

#include <glog/logging.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <memory>

#include "neptune/base/strings.h"
#include "neptune/security/openssl_handles.h"

namespace neptune {
namespace {

constexpr size_t kNameSizeMax = 64;
constexpr long kVersion3 = 2;

std::string TextOf(BIO* bio) {
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio, &text);
  return std::string(text, static_cast<size_t>(size));
}

Bio BioOver(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

bool IsName(const std::string& name) {
  return !name.empty() && name.size() <= kNameSizeMax &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.' ||
                  c == ' ' || c == ':';
         });
}

bool IsAddress(const std::string& host) {
  const bool has_letter = std::any_of(
      host.begin(), host.end(), [](char c) { return std::isalpha(static_cast<unsigned char>(c)); });
  return host.find(':') != std::string::npos || !has_letter;
}

Status AddExtension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  if (extension == nullptr) {
    ERR_clear_error();
    return InvalidArgument("invalid certificate field '", value, "'");
  }
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  return OkStatus();
}

void SetTimes(X509* certificate, const Validity& validity) {
  constexpr int64_t kNsPerSecond = 1000000000;
  ASN1_TIME_set(X509_getm_notBefore(certificate), validity.from.ns_since_1970 / kNsPerSecond);
  ASN1_TIME_set(X509_getm_notAfter(certificate), validity.until.ns_since_1970 / kNsPerSecond);
}

void SetSerial(X509* certificate) {
  std::array<unsigned char, 16> bytes;
  CHECK_EQ(RAND_bytes(bytes.data(), bytes.size()), 1);
  bytes[0] &= 0x7f;
  BIGNUM* const number = BN_bin2bn(bytes.data(), bytes.size(), nullptr);
  BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
  BN_free(number);
}

// Fills in everything except extensions and signature.
StatusOr<Certificate> Begin(const std::string& name, const Validity& validity, EVP_PKEY* key) {
  if (!IsName(name)) {
    return InvalidArgument("invalid certificate name '", name, "': expected 1 to ", kNameSizeMax,
                           " letters, digits, spaces, '-', '_', '.' and ':'");
  }
  Certificate certificate(X509_new());
  X509_set_version(certificate.get(), kVersion3);
  SetSerial(certificate.get());
  SetTimes(certificate.get(), validity);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.data()),
                             static_cast<int>(name.size()), -1, 0);
  X509_set_pubkey(certificate.get(), key);
  return certificate;
}

KeyAndCertificate Finish(X509* certificate, EVP_PKEY* own_key, EVP_PKEY* signing_key) {
  CHECK_GT(X509_sign(certificate, signing_key, EVP_sha256()), 0);
  const Bio certificate_text(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(certificate_text.get(), certificate);
  const Bio key_text(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey(key_text.get(), own_key, nullptr, nullptr, 0, nullptr, nullptr);
  return {TextOf(key_text.get()), TextOf(certificate_text.get())};
}

PrivateKey MakeKey() {
  PrivateKey key(EVP_EC_gen("P-256"));
  CHECK(key != nullptr) << "OpenSSL failed to create a key";
  return key;
}

std::string AlternativeNames(const std::string& name, const std::vector<std::string>& hosts) {
  std::string names = StrCat("DNS:", name);
  for (const std::string& host : hosts) StrAppend(&names, IsAddress(host) ? ",IP:" : ",DNS:", host);
  return names;
}

}  // namespace

StatusOr<KeyAndCertificate> MakeAuthority(const std::string& name, const Validity& validity) {
  const PrivateKey key = MakeKey();
  NEPTUNE_ASSIGN_OR_RETURN(const Certificate made, Begin(name, validity, key.get()));
  X509* const certificate = made.get();
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
  NEPTUNE_RETURN_IF_ERROR(
      AddExtension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE,pathlen:0"));
  NEPTUNE_RETURN_IF_ERROR(
      AddExtension(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign"));
  NEPTUNE_RETURN_IF_ERROR(
      AddExtension(certificate, certificate, NID_subject_key_identifier, "hash"));
  return Finish(certificate, key.get(), key.get());
}

StatusOr<KeyAndCertificate> MakeCertificate(const KeyAndCertificate& authority,
                                            const std::string& name,
                                            const std::vector<std::string>& hosts,
                                            const Validity& validity) {
  const Certificate issuer(
      PEM_read_bio_X509(BioOver(authority.certificate).get(), nullptr, nullptr, nullptr));
  const PrivateKey issuer_key(
      PEM_read_bio_PrivateKey(BioOver(authority.key).get(), nullptr, nullptr, nullptr));
  if (issuer == nullptr || issuer_key == nullptr) {
    ERR_clear_error();
    return InvalidArgument("the authority's key or certificate is not valid PEM");
  }
  const PrivateKey key = MakeKey();
  NEPTUNE_ASSIGN_OR_RETURN(const Certificate made, Begin(name, validity, key.get()));
  X509* const certificate = made.get();
  X509_set_issuer_name(certificate, X509_get_subject_name(issuer.get()));
  const std::pair<int, std::string> extensions[] = {
      {NID_basic_constraints, "critical,CA:FALSE"},
      {NID_key_usage, "critical,digitalSignature"},
      {NID_ext_key_usage, "serverAuth,clientAuth"},
      {NID_subject_key_identifier, "hash"},
      {NID_authority_key_identifier, "keyid:always"},
      {NID_subject_alt_name, AlternativeNames(name, hosts)},
  };
  for (const auto& [kind, value] : extensions) {
    NEPTUNE_RETURN_IF_ERROR(AddExtension(certificate, issuer.get(), kind, value));
  }
  return Finish(certificate, key.get(), issuer_key.get());
}

}  // namespace neptune

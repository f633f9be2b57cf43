#include "neptune/security/tls_context.h"

#include <glog/logging.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <utility>

#include "absl/cleanup/cleanup.h"
#include "neptune/base/file.h"
#include "neptune/base/secret_file.h"
#include "neptune/base/strings.h"
#include "neptune/base/wipe.h"
#include "neptune/security/openssl_handles.h"

namespace neptune {
namespace {

constexpr size_t kPemSizeMax = 256 * 1024;
constexpr Duration kLookInterval = std::chrono::seconds(1);

using VerifyContext = std::unique_ptr<X509_STORE_CTX, OpensslFree<X509_STORE_CTX_free>>;

Bio BioOver(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

StatusOr<std::vector<Certificate>> ReadCertificates(const std::string& path) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kPemSizeMax));
  const Bio bio = BioOver(text);
  std::vector<Certificate> certificates;
  while (X509* const one = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    certificates.emplace_back(one);
  }
  ERR_clear_error();  // set by reaching the end of the file
  if (certificates.empty()) return InvalidArgument(path, " holds no certificate in PEM");
  return certificates;
}

StatusOr<PrivateKey> ReadPrivateKey(const std::string& path) {
  NEPTUNE_ASSIGN_OR_RETURN(std::string text, ReadOwnersFile(path, kPemSizeMax));
  const WipeAtEnd wipe(&text);
  const auto no_password = [](char*, int, int, void*) { return 0; };
  PrivateKey key(PEM_read_bio_PrivateKey(BioOver(text).get(), nullptr, no_password, nullptr));
  if (key == nullptr) {
    ERR_clear_error();
    return InvalidArgument(path, " holds no private key in PEM without a password");
  }
  return key;
}

std::string NameOf(X509* certificate) {
  const Bio bio(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(bio.get(), X509_get_subject_name(certificate), 0,
                     XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return std::string(text, static_cast<size_t>(size));
}

time_t SecondsOf(WallTime time) { return time.ns_since_1970 / 1000000000; }

}  // namespace

void FreeTlsSession::operator()(SSL* session) const { SSL_free(session); }

std::string CommonNameOf(X509* certificate) {
  X509_NAME* const subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0 || X509_NAME_get_index_by_NID(subject, NID_commonName, at) >= 0) return "";
  unsigned char* text = nullptr;
  const int size =
      ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
  if (size < 0) return "";
  std::string name(reinterpret_cast<const char*>(text), static_cast<size_t>(size));
  OPENSSL_free(text);
  return name;
}

std::string TlsErrorText() {
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  const char* const reason = ERR_reason_error_string(error);
  return reason == nullptr ? StrCat("error ", error) : reason;
}

struct TlsContext::Loaded {
  std::unique_ptr<SSL_CTX, OpensslFree<SSL_CTX_free>> context;
  std::string name;
  std::string common_name;
  std::string expires;
  time_t expires_at = 0;
};

TlsContext::TlsContext(TlsUse use, TlsFiles files, Clock clock)
    : use_(use), files_(std::move(files)), clock_(std::move(clock)) {}
TlsContext::~TlsContext() = default;

StatusOr<std::shared_ptr<TlsContext>> TlsContext::Load(TlsUse use, TlsFiles files, Clock clock) {
  std::shared_ptr<TlsContext> context(new TlsContext(use, std::move(files), std::move(clock)));
  context->fingerprint_ = context->Fingerprint();
  NEPTUNE_ASSIGN_OR_RETURN(auto loaded, context->LoadFiles());
  LeafLock lock(&context->mutex_);
  context->loaded_ = std::move(loaded);
  return context;
}

namespace {

// Checks the certificate as a peer would.
Status CheckOwnCertificate(SSL_CTX* context, X509* certificate, STACK_OF(X509) * chain,
                           const std::string& path, time_t now) {
  const VerifyContext verify(X509_STORE_CTX_new());
  X509_STORE_CTX_init(verify.get(), SSL_CTX_get_cert_store(context), certificate, chain);
  X509_VERIFY_PARAM_set_time(X509_STORE_CTX_get0_param(verify.get()), now);
  if (X509_verify_cert(verify.get()) == 1) return OkStatus();
  const int error = X509_STORE_CTX_get_error(verify.get());
  ERR_clear_error();
  return InvalidArgument(
      "certificate ", path, " of ", NameOf(certificate),
      " would be refused by the other nodes: ", X509_verify_cert_error_string(error));
}

Status TrustAuthority(SSL_CTX* context, const std::string& path) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto authorities, ReadCertificates(path));
  for (const Certificate& authority : authorities) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get());
    SSL_CTX_add_client_CA(context, authority.get());
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return OkStatus();
}

void SetRules(SSL_CTX* context, TlsUse use) {
  SSL_CTX_set_min_proto_version(context, use == TlsUse::kNodes ? TLS1_3_VERSION : TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  // Nodes keep their connections, and a resumed session would not be checked against the clock.
  if (use == TlsUse::kNodes) SSL_CTX_set_num_tickets(context, 0);
}

}  // namespace

StatusOr<std::shared_ptr<TlsContext::Loaded>> TlsContext::LoadFiles() const {
  NEPTUNE_ASSIGN_OR_RETURN(const auto certificates, ReadCertificates(files_.certificate));
  NEPTUNE_ASSIGN_OR_RETURN(const PrivateKey key, ReadPrivateKey(files_.key));
  auto loaded = std::make_shared<Loaded>();
  loaded->context.reset(SSL_CTX_new(TLS_method()));
  SSL_CTX* const context = loaded->context.get();
  CHECK(context != nullptr) << TlsErrorText();
  SetRules(context, use_);
  X509* const own = certificates[0].get();
  if (SSL_CTX_use_certificate(context, own) != 1) {
    return InvalidArgument(files_.certificate, ": ", TlsErrorText());
  }
  for (size_t i = 1; i < certificates.size(); ++i) {
    SSL_CTX_add1_chain_cert(context, certificates[i].get());
  }
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1) {
    ERR_clear_error();
    return InvalidArgument(files_.key, " is not the key of certificate ", files_.certificate);
  }
  if (use_ == TlsUse::kNodes) {
    NEPTUNE_RETURN_IF_ERROR(TrustAuthority(context, files_.authority));
    STACK_OF(X509)* chain = nullptr;
    SSL_CTX_get0_chain_certs(context, &chain);
    NEPTUNE_RETURN_IF_ERROR(
        CheckOwnCertificate(context, own, chain, files_.certificate, SecondsOf(clock_())));
  }
  loaded->name = NameOf(own);
  loaded->common_name = CommonNameOf(own);
  tm expires{};
  ASN1_TIME_to_tm(X509_get0_notAfter(own), &expires);
  loaded->expires_at = timegm(&expires);
  std::array<char, 32> text{};
  strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &expires);
  loaded->expires = text.data();
  return loaded;
}

std::string TlsContext::Fingerprint() const {
  std::string fingerprint;
  for (const std::string* path : {&files_.certificate, &files_.key, &files_.authority}) {
    struct stat file {};
    if (path->empty() || stat(path->c_str(), &file) != 0) continue;
    StrAppend(&fingerprint, file.st_ino, " ", file.st_size, " ", file.st_mtim.tv_sec, " ",
              file.st_mtim.tv_nsec, ";");
  }
  return fingerprint;
}

std::shared_ptr<TlsContext::Loaded> TlsContext::Current() const {
  LeafLock lock(&mutex_);
  return loaded_;
}

void TlsContext::KeepFresh(World& world) {
  helpers_ = world.MakeHelperThreads("certificates", 1);
  LookLater(*Loop::Current());
}

void TlsContext::LookLater(Loop& loop) {
  loop.RunAt(loop.Now() + kLookInterval, [weak = weak_from_this(), &loop] {
    const std::shared_ptr<TlsContext> self = weak.lock();
    if (self == nullptr) return;
    self->LookLater(loop);
    if (self->is_reloading_.exchange(true)) return;  // the disk is slow
    if (self->helpers_ == nullptr) return self->Reload();
    self->helpers_->Run([context = self.get()] { context->Reload(); });
  });
}

void TlsContext::Reload() {
  const absl::Cleanup done = [this] { is_reloading_ = false; };
  std::string fingerprint = Fingerprint();
  if (fingerprint == fingerprint_) return;
  fingerprint_ = std::move(fingerprint);
  StatusOr<std::shared_ptr<Loaded>> fresh = LoadFiles();
  if (!fresh.ok()) {
    LOG(ERROR) << "reloading the certificate failed, keeping the current one: " << fresh.status();
    return;
  }
  LOG(INFO) << "certificate " << files_.certificate << " of " << (*fresh)->name << " valid until "
            << (*fresh)->expires << " taken";
  LeafLock lock(&mutex_);
  loaded_.swap(*fresh);
}

TlsSession TlsContext::MakeSession(bool accepts, const std::string& address) {
  TlsSession session(SSL_new(Current()->context.get()));
  CHECK(session != nullptr) << TlsErrorText();
  X509_VERIFY_PARAM* const rules = SSL_get0_param(session.get());
  X509_VERIFY_PARAM_set_time(rules, SecondsOf(clock_()));
  if (!address.empty()) {
    CHECK_EQ(X509_VERIFY_PARAM_set1_ip_asc(rules, address.c_str()), 1) << address;
  }
  if (accepts) {
    SSL_set_accept_state(session.get());
  } else {
    SSL_set_connect_state(session.get());
  }
  return session;
}

std::string TlsContext::OwnName() const { return Current()->common_name; }

std::string TlsContext::Describe() const {
  const std::shared_ptr<Loaded> loaded = Current();
  return StrCat(loaded->name, ", valid until ", loaded->expires);
}

double TlsContext::SecondsLeft() const {
  return static_cast<double>(Current()->expires_at - SecondsOf(clock_()));
}

}  // namespace neptune

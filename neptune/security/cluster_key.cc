#include "neptune/security/cluster_key.h"

#include <glog/logging.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>
#include <bitset>
#include <utility>

#include "neptune/base/byte_order.h"
#include "neptune/base/secret_file.h"
#include "neptune/base/wipe.h"

namespace neptune {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
// A random key has fewer distinct bytes with probability below 10^-20.
constexpr size_t kDistinctBytesMin = 8;
constexpr std::string_view kKeyIdLabel = "neptune key id 1";
constexpr std::string_view kDerivedLabel = "neptune derived secret 1: ";

int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool IsText(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) {
    return (c >= ' ' && c < 0x7f) || kBlanks.find(c) != std::string_view::npos;
  });
}

// Splits text at whitespace.
std::vector<std::string_view> WordsOf(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    const size_t begin = text.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return words;
    text.remove_prefix(begin);
    words.push_back(text.substr(0, text.find_first_of(kBlanks)));
    text.remove_prefix(words.back().size());
  }
}

StatusOr<std::string> KeyFromHex(std::string_view digits, std::string_view name) {
  if (!std::all_of(digits.begin(), digits.end(), [](char c) { return DigitOf(c) >= 0; })) {
    return InvalidArgument(
        "cluster key ", name,
        " is text other than hexadecimal digits; passphrases are easily guessed");
  }
  if (digits.size() % 2 != 0) {
    return InvalidArgument("cluster key ", name, ": a key has an odd number of digits");
  }
  std::string key;
  key.reserve(digits.size() / 2);  // leaves no copies in freed memory
  for (size_t i = 0; i < digits.size(); i += 2) {
    key.push_back(static_cast<char>(DigitOf(digits[i]) << 4 | DigitOf(digits[i + 1])));
  }
  return key;
}

Status CheckKey(std::string_view key, std::string_view name) {
  if (key.size() < kClusterKeySizeMin || key.size() > kClusterKeySizeMax) {
    return InvalidArgument("cluster key ", name, " holds a key of ", key.size(),
                           " bytes, expected ", kClusterKeySizeMin, " to ", kClusterKeySizeMax);
  }
  std::bitset<256> seen;
  for (const char byte : key) seen.set(static_cast<unsigned char>(byte));
  if (seen.count() < kDistinctBytesMin) {
    return InvalidArgument("cluster key ", name, " is not random: it has ", seen.count(),
                           " different bytes");
  }
  return OkStatus();
}

}  // namespace

StatusOr<ClusterKeys> ClusterKeys::Parse(std::string_view contents, std::string_view name) {
  std::vector<std::string> keys;
  if (!IsText(contents)) {
    keys.emplace_back(contents);
  } else {
    for (const std::string_view word : WordsOf(contents)) {
      NEPTUNE_ASSIGN_OR_RETURN(std::string key, KeyFromHex(word, name));
      keys.push_back(std::move(key));
    }
  }
  if (keys.empty() || keys.size() > kClusterKeyCountMax) {
    return InvalidArgument("cluster key ", name, " holds ", keys.size(), " keys, expected 1 to ",
                           kClusterKeyCountMax);
  }
  for (const std::string& key : keys) NEPTUNE_RETURN_IF_ERROR(CheckKey(key, name));
  if (keys.size() == 2 && keys[0] == keys[1]) {
    return InvalidArgument("cluster key ", name, " holds the same key twice");
  }
  return ClusterKeys(std::move(keys));
}

ClusterKeys::~ClusterKeys() {
  for (std::string& key : keys_) Wipe(&key);
}

StatusOr<ClusterKeys> LoadClusterKeys(const std::string& path) {
  constexpr size_t kFileSizeMax = kClusterKeyCountMax * (2 * kClusterKeySizeMax + 2);
  NEPTUNE_ASSIGN_OR_RETURN(std::string contents, ReadOwnersFile(path, kFileSizeMax));
  const WipeAtEnd wipe(&contents);
  return ClusterKeys::Parse(contents, path);
}

bool SameSecretBytes(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

struct ClusterMac::Key {
  struct Free {
    void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
  };
  std::unique_ptr<EVP_MAC_CTX, Free> context;
  uint64_t id = 0;
};

ClusterMac::ClusterMac(const ClusterKeys& keys) {
  EVP_MAC* const hmac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
  CHECK(hmac != nullptr) << "OpenSSL lacks HMAC";
  char digest[] = "SHA256";
  const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string("digest", digest, 0),
                                   OSSL_PARAM_construct_end()};
  for (const std::string& bytes : keys.keys()) {
    auto key = std::make_unique<Key>();
    key->context.reset(EVP_MAC_CTX_new(hmac));
    CHECK(EVP_MAC_init(key->context.get(), reinterpret_cast<const unsigned char*>(bytes.data()),
                       bytes.size(), parameters) == 1)
        << "OpenSSL lacks SHA256";
    keys_.push_back(std::move(key));
    keys_.back()->id = LoadBigEndian<uint64_t>(Of(keys_.size() - 1, {kKeyIdLabel}).data());
  }
  EVP_MAC_free(hmac);
}

ClusterMac::ClusterMac(ClusterMac&&) noexcept = default;
ClusterMac::~ClusterMac() = default;

Mac ClusterMac::Of(size_t key, std::initializer_list<std::string_view> parts) {
  EVP_MAC_CTX* const context = keys_[key]->context.get();
  Mac mac;
  size_t size = 0;
  bool made = EVP_MAC_init(context, nullptr, 0, nullptr) == 1;  // keeps the current key
  for (const std::string_view part : parts) {
    made = made && EVP_MAC_update(context, reinterpret_cast<const unsigned char*>(part.data()),
                                  part.size()) == 1;
  }
  made = made && EVP_MAC_final(context, reinterpret_cast<unsigned char*>(mac.data()), &size,
                               mac.size()) == 1;
  CHECK(made && size == mac.size()) << "OpenSSL failed to compute an HMAC";
  return mac;
}

std::vector<std::string> DeriveSecrets(const ClusterKeys& keys, std::string_view purpose) {
  ClusterMac mac(keys);
  std::vector<std::string> secrets;
  for (size_t key = 0; key < mac.key_count(); ++key) {
    secrets.emplace_back(BytesOf(mac.Of(key, {kDerivedLabel, purpose})));
  }
  return secrets;
}

uint64_t ClusterMac::key_id(size_t key) const { return keys_[key]->id; }

std::optional<size_t> ClusterMac::FindKey(uint64_t key_id) const {
  for (size_t key = 0; key < keys_.size(); ++key) {
    if (keys_[key]->id == key_id) return key;
  }
  return std::nullopt;
}

}  // namespace neptune

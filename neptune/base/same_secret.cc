#include "neptune/base/same_secret.h"

#include <openssl/sha.h>

#include <array>

namespace neptune {

std::string ApiKeyHash(std::string_view key) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::array<unsigned char, SHA256_DIGEST_LENGTH> hash{};
  SHA256(reinterpret_cast<const unsigned char*>(key.data()), key.size(), hash.data());
  std::string text;
  text.reserve(kApiKeyHashSize);
  for (const unsigned char byte : hash) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace neptune

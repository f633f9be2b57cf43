// Compares a client's secret with the expected one, and the form in which a cluster spec and a node
// hold the API keys of clients.
//
// A random key cannot be found from its hash, so the spec may be read by people who must not have
// the key; a key that can be guessed can also be guessed from its hash. Looking up a hash takes a
// time that says nothing about the key.
// Source: FIPS 180-4 (SHA-256).
// Threads: pure functions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace neptune {

// The time taken does not depend on where the texts differ. REQUIRES: `secret` is not empty.
inline bool SameSecret(std::string_view given, std::string_view secret) {
  uint32_t difference = given.size() != secret.size() ? 1 : 0;
  for (size_t i = 0; i < given.size(); ++i) {
    difference |= static_cast<uint8_t>(given[i]) ^ static_cast<uint8_t>(secret[i % secret.size()]);
  }
  return difference == 0;
}

// Digits of an ApiKeyHash.
inline constexpr size_t kApiKeyHashSize = 64;

// Returns the SHA-256 of the key as hexadecimal digits in lower case, as `sha256sum` prints it.
std::string ApiKeyHash(std::string_view key);

}  // namespace neptune

// The form in which a cluster spec and a node hold the API keys of clients.
//
// A random key cannot be found from its hash, so the spec may be read by people who must not have
// the key; a key that can be guessed can also be guessed from its hash. Looking up a hash takes a
// time that says nothing about the key.
// Source: FIPS 180-4 (SHA-256).
// Threads: pure function.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace neptune {

// Digits of a hash.
inline constexpr size_t kApiKeyHashSize = 64;

// Returns the SHA-256 of the key as hexadecimal digits in lower case, as `sha256sum` prints it.
std::string ApiKeyHash(std::string_view key);

}  // namespace neptune

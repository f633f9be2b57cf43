// The secret that a cluster's nodes share: read from its file, and what is proven with it.
//
//   key file ──LoadClusterKeys──► ClusterKeys ──one a loop──► ClusterMac ──► KeyHandshake, SealDatagram
//
// A key file is either text of one or two lines of at least 64 hexadecimal digits, or at least 32 raw bytes. With two
// keys a node offers and accepts either, the first first, so that two rolling restarts change the key of a running
// cluster: OLD, then NEW and OLD, then NEW.
//
// Source: RFC 2104 (HMAC), FIPS 180-4 (SHA-256).
// No I/O but LoadClusterKeys, which reads a file and so blocks.
// Threads: ClusterKeys is an immutable value; ClusterMac is thread-compatible: each loop has its own.
// Errors: those of ReadFile; FAILED_PRECONDITION others than its owner may use the file, or another user owns it;
//   INVALID_ARGUMENT the file holds no key, or one that is too short, plain text or plainly not random. No message
//   shows a key.
// Limits: kClusterKeyCountMax keys of kClusterKeySizeMin to kClusterKeySizeMax bytes.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"

namespace neptune {

inline constexpr size_t kClusterKeySizeMin = 32;
inline constexpr size_t kClusterKeySizeMax = 1024;
inline constexpr size_t kClusterKeyCountMax = 2;

class ClusterKeys {
 public:
  // Of the contents of a key file; `name` stands in errors.
  static StatusOr<ClusterKeys> Parse(std::string_view contents, std::string_view name);

  const std::vector<std::string>& keys() const { return keys_; }

 private:
  explicit ClusterKeys(std::vector<std::string> keys) : keys_(std::move(keys)) {}
  std::vector<std::string> keys_;
};

StatusOr<ClusterKeys> LoadClusterKeys(const std::string& path);

// HMAC-SHA256, whole.
using Mac = std::array<char, 32>;
inline std::string_view BytesOf(const Mac& mac) { return {mac.data(), mac.size()}; }

// Whether two byte strings of one size are the same; takes as long whether they are or not.
bool SameSecretBytes(std::string_view a, std::string_view b);

// Authentication codes under each key of a cluster.
class ClusterMac {
 public:
  explicit ClusterMac(const ClusterKeys& keys);
  ClusterMac(ClusterMac&&) noexcept;
  ~ClusterMac();

  size_t key_count() const { return keys_.size(); }
  // Of the parts one after the other, under key `key`. REQUIRES: key < key_count().
  Mac Of(size_t key, std::initializer_list<std::string_view> parts);
  // Tells a key's name to those who know the key, and nothing to others.
  uint64_t key_id(size_t key) const;
  std::optional<size_t> FindKey(uint64_t key_id) const;

 private:
  struct Key;
  std::vector<std::unique_ptr<Key>> keys_;
};

}  // namespace neptune

// The secret shared by a cluster's nodes: reading it from its file, and the authentication codes
// made with it.
//
//   key file ─LoadClusterKeys─► ClusterKeys ─one a loop─► ClusterMac ─► KeyHandshake, SealDatagram
//
// A key file is either text of one or two lines of at least 64 hexadecimal digits, or at least 32
// raw bytes. With two keys a node offers and accepts both and prefers the first, so two rolling
// restarts change the key of a running cluster: OLD, then NEW and OLD, then NEW.
//
// Source: RFC 2104 (HMAC), FIPS 180-4 (SHA-256).
// No I/O except LoadClusterKeys, which reads a file and therefore blocks.
// Threads: ClusterKeys is an immutable value; ClusterMac is thread-compatible: one for each
//   loop.
// Errors: those of ReadFile; FAILED_PRECONDITION users other than the owner have access to the
//   file, or another user owns it; INVALID_ARGUMENT the file holds no key, or one that is too
//   short, plain text or obviously not random. No message shows a key.
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
  // Parses the contents of a key file; `name` is the name used in errors.
  static StatusOr<ClusterKeys> Parse(std::string_view contents, std::string_view name);

  ClusterKeys(const ClusterKeys&) = default;
  ClusterKeys(ClusterKeys&&) = default;
  ClusterKeys& operator=(ClusterKeys other) noexcept {
    keys_.swap(other.keys_);
    return *this;
  }
  // Wipes the keys.
  ~ClusterKeys();

  const std::vector<std::string>& keys() const { return keys_; }

 private:
  explicit ClusterKeys(std::vector<std::string> keys) : keys_(std::move(keys)) {}
  std::vector<std::string> keys_;
};

StatusOr<ClusterKeys> LoadClusterKeys(const std::string& path);

// Returns a secret for `purpose` from each key, in order: other nodes of the cluster have the same
// ones, and from them neither a key nor the secret of another purpose can be found. While the key
// is being changed, make codes with the first and accept those of all.
// Source: NIST SP 800-108 (a key from a pseudorandom function), with HMAC-SHA256 and one block.
std::vector<std::string> DeriveSecrets(const ClusterKeys& keys, std::string_view purpose);

// HMAC-SHA256, not truncated.
using Mac = std::array<char, 32>;
inline std::string_view BytesOf(const Mac& mac) { return {mac.data(), mac.size()}; }

// Compares two byte strings of the same size in constant time.
bool SameSecretBytes(std::string_view a, std::string_view b);

// Computes authentication codes under each key of a cluster.
class ClusterMac {
 public:
  explicit ClusterMac(const ClusterKeys& keys);
  ClusterMac(ClusterMac&&) noexcept;
  ~ClusterMac();

  size_t key_count() const { return keys_.size(); }
  // Returns the code of the concatenated parts under key `key`. REQUIRES: key < key_count().
  Mac Of(size_t key, std::initializer_list<std::string_view> parts);
  // Identifies a key to peers that have the key, and reveals nothing to others.
  uint64_t key_id(size_t key) const;
  std::optional<size_t> FindKey(uint64_t key_id) const;

 private:
  struct Key;
  std::vector<std::unique_ptr<Key>> keys_;
};

}  // namespace neptune

#include "neptune/security/datagram_seal.h"

#include "neptune/base/strings.h"

namespace neptune {
namespace {

constexpr std::string_view kLabel = "neptune datagram 1";

}  // namespace

std::string SealDatagram(std::string_view bytes, ClusterMac& mac) {
  std::string sealed(bytes);
  sealed.reserve(bytes.size() + kSealSizeMax);
  for (size_t key = 0; key < mac.key_count(); ++key) {
    const Mac code = mac.Of(key, {kLabel, bytes});
    sealed.append(code.data(), kSealCodeSize);
  }
  sealed.push_back(static_cast<char>(mac.key_count()));
  return sealed;
}

StatusOr<std::string_view> OpenDatagramSeal(std::string_view sealed, ClusterMac& mac) {
  const size_t count = sealed.empty() ? 0 : static_cast<unsigned char>(sealed.back());
  const size_t seal_size = count * kSealCodeSize + 1;
  if (count == 0 || count > kClusterKeyCountMax || sealed.size() < seal_size) {
    return DataLoss("a datagram of ", sealed.size(), " bytes is not sealed with a cluster key");
  }
  const std::string_view bytes = sealed.substr(0, sealed.size() - seal_size);
  const std::string_view codes = sealed.substr(bytes.size());
  for (size_t key = 0; key < mac.key_count(); ++key) {
    const Mac expected = mac.Of(key, {kLabel, bytes});
    for (size_t i = 0; i < count; ++i) {
      if (SameSecretBytes(codes.substr(i * kSealCodeSize, kSealCodeSize),
                          BytesOf(expected).substr(0, kSealCodeSize))) {
        return bytes;
      }
    }
  }
  return DataLoss("a datagram of ", sealed.size(), " bytes is sealed with an unknown cluster key");
}

}  // namespace neptune

#include "neptune/security/key_handshake.h"

#include <algorithm>
#include <utility>

#include "neptune/base/byte_order.h"

namespace neptune {
namespace {

constexpr uint8_t kVersion = 1;
constexpr size_t kHeadSize = sizeof(kHandshakeMagic) + 2;  // magic, version, count or verdict
constexpr size_t kKeyIdSize = sizeof(uint64_t);
constexpr size_t kAnswerSize = kHeadSize + kKeyIdSize + kNonceSize + sizeof(Mac);

constexpr uint8_t kAccepted = 0;
constexpr uint8_t kNoCommonKey = 1;
constexpr uint8_t kOtherVersion = 2;
constexpr uint8_t kMalformed = 3;

constexpr std::string_view kServerLabel = "neptune server 1";
constexpr std::string_view kCallerLabel = "neptune caller 1";

std::string Head(uint8_t count_or_verdict) {
  std::string out;
  ByteWriter writer(&out);
  writer.Number(kHandshakeMagic);
  writer.Number(kVersion);
  writer.Number(count_or_verdict);
  return out;
}

Status VerdictStatus(uint8_t verdict) {
  switch (verdict) {
    case kNoCommonKey:
      return Unavailable("the server has none of the cluster keys of this node");
    case kOtherVersion:
      return Unavailable("the server does not support version ", int{kVersion},
                         " of the key handshake");
    default:
      return Unavailable("the server refuses the key handshake with verdict ", int{verdict});
  }
}

}  // namespace

KeyHandshake::KeyHandshake(HandshakeRole role, ClusterMac& mac, const Nonce& nonce,
                           std::string binding)
    : role_(role), mac_(mac), nonce_(nonce), binding_(std::move(binding)) {}

std::string KeyHandshake::Begin() {
  if (role_ == HandshakeRole::kServer) return "";
  hello_ = Head(static_cast<uint8_t>(mac_.key_count()));
  ByteWriter writer(&hello_);
  writer.Bytes({nonce_.data(), nonce_.size()});
  for (size_t key = 0; key < mac_.key_count(); ++key) writer.Number(mac_.key_id(key));
  return hello_;
}

std::string KeyHandshake::Take(std::string_view bytes) {
  received_ += bytes;
  if (role_ == HandshakeRole::kCaller) return HandleAnswer();
  std::string out;
  if (hello_.empty()) out = HandleHello();
  if (failure_.ok() && !answer_.empty()) HandleProof();
  return out;
}

bool KeyHandshake::Holds(size_t size) {
  std::string magic;
  ByteWriter(&magic).Number(kHandshakeMagic);
  const size_t known = std::min(received_.size(), magic.size());
  if (received_.compare(0, known, magic, 0, known) != 0) {
    failure_ = Unavailable("the peer does not use cluster keys");
    return false;
  }
  return received_.size() >= size;
}

std::string KeyHandshake::Refuse(uint8_t verdict, Status why) {
  failure_ = std::move(why);
  return Head(verdict);
}

std::string KeyHandshake::HandleHello() {
  if (!Holds(kHeadSize)) return "";
  const auto version = static_cast<uint8_t>(received_[sizeof(kHandshakeMagic)]);
  if (version != kVersion) {
    return Refuse(kOtherVersion,
                  Unavailable("the caller uses key handshake version ", int{version}));
  }
  const auto count = static_cast<uint8_t>(received_[kHeadSize - 1]);
  if (count == 0 || count > kClusterKeyCountMax) {
    return Refuse(kMalformed, Unavailable("the caller offers ", int{count}, " keys"));
  }
  const size_t size = kHeadSize + kNonceSize + count * kKeyIdSize;
  if (received_.size() < size) return "";
  hello_ = received_.substr(0, size);
  received_.erase(0, size);
  std::string_view ids = std::string_view(hello_).substr(kHeadSize + kNonceSize);
  std::optional<size_t> common;
  for (; !ids.empty(); ids.remove_prefix(kKeyIdSize)) {
    const auto key = mac_.FindKey(LoadBigEndian<uint64_t>(ids.data()));
    if (key && (!common || *key < *common)) common = key;
  }
  if (!common) {
    return Refuse(kNoCommonKey,
                  Unavailable("the caller has none of the cluster keys of this node"));
  }
  key_ = *common;
  answer_ = Head(kAccepted);
  ByteWriter writer(&answer_);
  writer.Number(mac_.key_id(key_));
  writer.Bytes({nonce_.data(), nonce_.size()});
  writer.Bytes(BytesOf(ProofOf(HandshakeRole::kServer)));
  return answer_;
}

std::string KeyHandshake::HandleAnswer() {
  if (!Holds(kHeadSize)) return "";
  const auto version = static_cast<uint8_t>(received_[sizeof(kHandshakeMagic)]);
  const auto verdict = static_cast<uint8_t>(received_[kHeadSize - 1]);
  if (version != kVersion || verdict != kAccepted) {
    failure_ = VerdictStatus(version != kVersion ? kOtherVersion : verdict);
    return "";
  }
  if (received_.size() < kAnswerSize) return "";
  answer_ = received_.substr(0, kAnswerSize - sizeof(Mac));
  const std::string proof = received_.substr(answer_.size(), sizeof(Mac));
  received_.erase(0, kAnswerSize);
  const auto key = mac_.FindKey(LoadBigEndian<uint64_t>(answer_.data() + kHeadSize));
  if (!key) {
    failure_ = Unavailable("the server chose a key that was not offered");
    return "";
  }
  key_ = *key;
  if (!SameSecretBytes(proof, BytesOf(ProofOf(HandshakeRole::kServer)))) {
    failure_ = Unavailable("the server failed to prove the cluster key it names");
    return "";
  }
  answer_ += proof;
  done_ = true;
  return std::string(BytesOf(ProofOf(HandshakeRole::kCaller)));
}

void KeyHandshake::HandleProof() {
  if (received_.size() < sizeof(Mac)) return;
  const std::string_view proof = std::string_view(received_).substr(0, sizeof(Mac));
  if (!SameSecretBytes(proof, BytesOf(ProofOf(HandshakeRole::kCaller)))) {
    failure_ = Unavailable("the caller failed to prove the cluster key it names");
    return;
  }
  received_.erase(0, sizeof(Mac));
  done_ = true;
}

// The server's proof covers its answer up to the proof itself.
Mac KeyHandshake::ProofOf(HandshakeRole role) const {
  const std::string_view label = role == HandshakeRole::kServer ? kServerLabel : kCallerLabel;
  return mac_.Of(key_, {label, hello_, answer_, binding_});
}

}  // namespace neptune

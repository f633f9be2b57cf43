#include "neptune/base/checksum.h"

#include "neptune/base/inline_checksum.h"

namespace neptune {

uint64_t Checksum64(std::string_view bytes, uint64_t seed) { return InlineChecksum64(bytes, seed); }

struct RunningChecksum64::State {
  XXH3_state_t state;
};

RunningChecksum64::RunningChecksum64(uint64_t seed) : state_(std::make_unique<State>()) {
  XXH3_64bits_reset_withSeed(&state_->state, seed);
}

RunningChecksum64::~RunningChecksum64() = default;

void RunningChecksum64::Add(std::string_view bytes) {
  XXH3_64bits_update(&state_->state, bytes.data(), bytes.size());
}

uint64_t RunningChecksum64::value() const { return XXH3_64bits_digest(&state_->state); }

uint32_t Checksum32(std::string_view bytes) { return static_cast<uint32_t>(Checksum64(bytes)); }

}  // namespace neptune

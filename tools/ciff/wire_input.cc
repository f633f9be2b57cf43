#include "tools/ciff/wire_input.h"

#include <algorithm>

namespace search::tools {
namespace {

constexpr size_t kBufferSize = size_t{64} << 10;
constexpr uint64_t kWireTypeMask = 7;

}  // namespace

WireInput::WireInput(ByteSource* source) : source_(source), buffer_(kBufferSize) {}

bool WireInput::Fill() {
  if (at_ < end_) return true;
  if (!status_.ok()) return false;
  base_ += end_;
  at_ = end_ = 0;
  const auto size = source_->Read(buffer_.data(), buffer_.size());
  if (!size.ok()) {
    status_ = neptune::Annotate(size.status(), neptune::StrCat("byte ", base_));
    return false;
  }
  end_ = *size;
  return end_ > 0;
}

bool WireInput::ReadVarint(uint64_t* value) {
  *value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at_ == end_ && !Fill()) return Fail("the file ends inside a number");
    const auto byte = static_cast<uint8_t>(buffer_[at_++]);
    if (shift == 63 && byte > 1) return Fail("a number of more than 64 bits");
    *value |= uint64_t{byte & 127U} << shift;
    if (byte < 128) return status_.ok();
  }
  return Fail("a number of more than 64 bits");
}

bool WireInput::ReadBytes(size_t size, std::string* out) {
  out->clear();
  while (out->size() < size) {
    if (!Fill()) return Fail("the file ends inside a message");
    const size_t taken = std::min(size - out->size(), end_ - at_);
    out->append(buffer_.data() + at_, taken);
    at_ += taken;
  }
  return status_.ok();
}

bool WireInput::Skip(uint64_t size) {
  while (size > 0) {
    if (!Fill()) return Fail("the file ends inside a message");
    const auto taken = static_cast<size_t>(std::min<uint64_t>(size, end_ - at_));
    size -= taken;
    at_ += taken;
  }
  return status_.ok();
}

bool WireInput::SkipField(uint64_t tag) {
  uint64_t number = 0;
  if (tag >> 3 == 0) return Fail("a field without a number");
  switch (tag & kWireTypeMask) {
    case 0:
      return ReadVarint(&number);
    case 1:
      return Skip(8);
    case 2:
      return ReadVarint(&number) && Skip(number);
    case 5:
      return Skip(4);
    default:
      return Fail("a field of unknown type");
  }
}

bool WireInput::AtEnd() { return status_.ok() && !Fill() && status_.ok(); }

}  // namespace search::tools

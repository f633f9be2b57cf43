#include "neptune/world/network.h"

#include <charconv>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

// Consumes a decimal number of at most `max` from the front of `text`. On false, `text` is
// undefined.
bool ConsumeNumber(std::string_view& text, uint32_t max, uint32_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value > max) return false;
  text.remove_prefix(end - text.data());
  return true;
}

bool ConsumeAddress(std::string_view& text, uint32_t& address) {
  address = 0;
  for (int i = 0; i < 4; ++i) {
    uint32_t part = 0;
    if (i > 0) {
      if (!text.starts_with('.')) return false;
      text.remove_prefix(1);
    }
    if (!ConsumeNumber(text, 255, part)) return false;
    address = address << 8 | part;
  }
  return true;
}

}  // namespace

StatusOr<Endpoint> Endpoint::Parse(std::string_view text) {
  std::string_view rest = text;
  Endpoint endpoint;
  if (rest.starts_with("localhost:")) {
    rest.remove_prefix(9);
    endpoint.address = kLoopbackAddress;
  } else if (!ConsumeAddress(rest, endpoint.address)) {
    return InvalidArgument("address '", text, "' is not a.b.c.d:port");
  }
  uint32_t port = 0;
  if (!rest.starts_with(':')) return InvalidArgument("address '", text, "' has no port");
  rest.remove_prefix(1);
  if (!ConsumeNumber(rest, 65535, port) || !rest.empty()) {
    return InvalidArgument("address '", text, "' has a bad port");
  }
  endpoint.port = static_cast<uint16_t>(port);
  return endpoint;
}

std::string Endpoint::ToString() const {
  return StrCat(address >> 24, ".", address >> 16 & 255, ".", address >> 8 & 255, ".",
                address & 255, ":", port);
}

std::ostream& operator<<(std::ostream& out, const Endpoint& endpoint) {
  return out << endpoint.ToString();
}

}  // namespace neptune

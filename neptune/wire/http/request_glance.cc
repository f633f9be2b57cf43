#include "neptune/wire/http/request_glance.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "neptune/wire/http/http_syntax.h"

namespace neptune {
namespace {

constexpr std::string_view kGet = "GET ";
constexpr std::string_view kHead = "HEAD ";
constexpr std::string_view kVersion = " HTTP/1.1";

// Headers that change how a request is read, or whether its connection stays open.
constexpr std::array<std::string_view, 7> kUnusualNames = {
    "Content-Length",    "Expect", "Proxy-Connection", "TE", "Trailer",
    "Transfer-Encoding", "Upgrade"};

// True if all bytes are blanks or visible ASCII signs.
bool IsPlain(std::string_view text) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kHighs = 0x8080808080808080;
  uint64_t bad = 0;
  size_t at = 0;
  for (; at + sizeof(uint64_t) <= text.size(); at += sizeof(uint64_t)) {
    uint64_t eight = 0;
    std::memcpy(&eight, text.data() + at, sizeof(eight));
    // The high bit of a byte is set if it is above 126, or below 32 (and then perhaps in the bytes
    // above it, too).
    bad |= eight | (eight + kOnes) | (eight - kOnes * ' ');
  }
  if ((bad & kHighs) != 0) return false;
  for (; at < text.size(); ++at) {
    if (text[at] < ' ' || text[at] > '~') return false;
  }
  return true;
}

// Takes the text before the next end of line and that end; false: there is none, or the text is
// not plain.
bool TakeLine(std::string_view* rest, std::string_view* line) {
  const size_t end = rest->find('\r');
  if (end == rest->npos || end + 1 >= rest->size() || (*rest)[end + 1] != '\n') return false;
  *line = rest->substr(0, end);
  rest->remove_prefix(end + 2);
  return IsPlain(*line);
}

std::string_view WithoutBlanks(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

bool TakeRequestLine(std::string_view* rest, HttpGlance* glance) {
  std::string_view line;
  glance->is_head = rest->starts_with(kHead);
  if (!glance->is_head && !rest->starts_with(kGet)) return false;
  if (!TakeLine(rest, &line) || !line.ends_with(kVersion)) return false;
  line.remove_suffix(kVersion.size());
  line.remove_prefix(std::min(line.size(), (glance->is_head ? kHead : kGet).size()));
  glance->target = line;
  return line.starts_with('/') && line.find_first_of(" #") == line.npos;
}

bool Is(std::string_view name, std::string_view known) {
  return name.size() == known.size() && EqualsIgnoringCase(name, known);
}

bool IsUnusual(std::string_view name) {
  return std::any_of(kUnusualNames.begin(), kUnusualNames.end(),
                     [name](std::string_view unusual) { return Is(name, unusual); });
}

// Adds the header of a line; false: it is unusual.
bool AddHeaderLine(std::string_view line, size_t* host_count, HttpGlance* glance) {
  const size_t colon = line.find(':');
  if (colon == line.npos || glance->header_count == HttpGlance::kHeaderCountMax) return false;
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = WithoutBlanks(line.substr(colon + 1));
  if (!IsHttpToken(name) || IsUnusual(name)) return false;
  if (Is(name, "Connection") && !EqualsIgnoringCase(value, "keep-alive")) return false;
  if (Is(name, "Host")) {
    if (!IsHttpHost(value)) return false;
    ++*host_count;
  }
  glance->headers[glance->header_count++] = {name, value};
  return true;
}

}  // namespace

size_t GlanceAt(std::string_view bytes, const HttpReaderOptions& limits, HttpGlance* glance) {
  std::string_view rest = bytes.substr(0, std::min(kGlanceSizeMax, limits.header_size_max));
  const size_t size = rest.size();
  glance->header_count = 0;
  if (!TakeRequestLine(&rest, glance) || glance->target.size() > limits.target_size_max) return 0;
  size_t host_count = 0;
  std::string_view line;
  while (TakeLine(&rest, &line)) {
    if (line.empty()) {
      const bool fits = glance->header_count <= limits.header_count_max;
      return host_count == 1 && fits ? size - rest.size() : 0;
    }
    if (!AddHeaderLine(line, &host_count, glance)) return 0;
  }
  return 0;
}

}  // namespace neptune

// Content codings: which of them a client accepts, and bodies in them.
//
//   Accept-Encoding ─► AcceptedCodings ─► best coding ─► EncodeBody ─► Content-Encoding, Vary
//
// Source: RFC 9110 8.4, 12.5.3, 12.5.5; RFC 1952 (gzip); RFC 8878 (zstd). Departs from source: a
//   client that does not send the header gets no coding, and "*" does not mean zstd, which fewer
//   clients decode than say so.
// No I/O, no clock. zlib and libzstd compress.
// Threads: pure functions. A thread keeps one compressor of each kind, about 1 MiB together.
// Errors: members of the header that are malformed are left out.
// Limits: ContentCodingOptions bounds what is compressed and therefore how long it takes.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "neptune/wire/http/http_message.h"

namespace neptune {

enum class ContentCoding : uint8_t { kIdentity, kGzip, kZstd };
inline constexpr size_t kContentCodingCount = 3;

// "identity", "gzip", "zstd".
std::string_view ContentCodingName(ContentCoding coding);

// What a client says that it accepts.
class AcceptedCodings {
 public:
  // `accept_encoding`: the field's value; of a repeated field all values with commas between them.
  // If a coding is named twice, the last one counts.
  explicit AcceptedCodings(std::string_view accept_encoding);

  bool Accepts(ContentCoding coding) const { return weights_[Index(coding)] > 0; }
  // The coding of the largest weight; ties: zstd, gzip, identity. nullopt: none, not even identity.
  std::optional<ContentCoding> Best() const;

 private:
  static size_t Index(ContentCoding coding) { return static_cast<size_t>(coding); }

  std::array<int, kContentCodingCount> weights_;  // thousandths; 0: refused
};

// The best coding that the field's value allows; nullopt: none, not even identity.
std::optional<ContentCoding> ChooseContentCoding(std::string_view accept_encoding);

struct ContentCodingOptions {
  // Smallest body that is compressed. Larger: fewer answers are; below this size most answers fill
  // one packet with or without it. Default: 1 KiB.
  size_t size_min = 1024;
  // Largest body that is compressed, which bounds how long a loop is occupied by one answer: about
  // 3 ms at the defaults. Default: 256 KiB for gzip, 1 MiB for zstd.
  size_t gzip_size_max = 256 << 10;
  size_t zstd_size_max = 1 << 20;
  // Levels of zlib and libzstd. Larger: smaller answers, more time. Default: the fastest of each;
  // README.md has the measurement.
  int gzip_level = 1;
  int zstd_level = 1;
};

// The body in that coding. nullopt, send it as it is: the coding is identity, the size is outside
// of the limits, or it would not become a tenth smaller.
std::optional<std::string> EncodeBody(ContentCoding coding, std::string_view body,
                                      const ContentCodingOptions& options = {});

// The body in that coding without compressing it, for a client that refuses identity. Any size; a
// few hundred microseconds for a MiB. REQUIRES: the coding is not identity.
std::string WrapBody(ContentCoding coding, std::string_view body);

// Says that the body is in `coding` and depends on the request's Accept-Encoding: Content-Encoding,
// unless identity, and Vary.
void SetContentCoding(ContentCoding coding, HttpResponse* response);

// Encodes the body of a response as the request's headers ask, sets Content-Encoding and Vary, and
// makes a strong ETag weak. Leaves alone: a response that has Content-Encoding, or Vary with
// Accept-Encoding, so that its maker has decided; no-transform; partial content; types other than
// text. A client that accepts neither identity nor a coding is answered 406.
void EncodeContent(const HttpHeaders& asked, const ContentCodingOptions& options,
                   HttpResponse* response);

}  // namespace neptune

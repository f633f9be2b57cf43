#include "neptune/wire/http/content_coding.h"

#include <glog/logging.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/wire/http/problem.h"

namespace neptune {
namespace {

constexpr std::string_view kAcceptEncoding = "Accept-Encoding";
constexpr std::string_view kContentEncoding = "Content-Encoding";
constexpr int kWeightMax = 1000;
// Marks a coding that the header does not name.
constexpr int kUnnamed = -1;

std::string_view Trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Removes and returns the part before the first `separator`.
std::string_view TakePart(std::string_view* rest, char separator) {
  const std::string_view part = rest->substr(0, rest->find(separator));
  rest->remove_prefix(std::min(rest->size(), part.size() + 1));
  return part;
}

// Thousandths of a qvalue (RFC 9110 12.4.2): "0" to "1" with up to three decimals.
std::optional<int> ParseWeight(std::string_view text) {
  if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return std::nullopt;
  int weight = (text[0] - '0') * kWeightMax;
  if (text.size() > 1 && text[1] != '.') return std::nullopt;
  int place = kWeightMax / 10;
  for (const char c : text.substr(std::min<size_t>(2, text.size()))) {
    if (c < '0' || c > '9') return std::nullopt;
    weight += (c - '0') * place;
    place /= 10;
  }
  if (weight > kWeightMax) return std::nullopt;
  return weight;
}

struct AcceptedMember {
  std::string_view coding;
  int weight = kWeightMax;
};

// One member of the list: coding [ OWS ";" OWS "q=" qvalue ].
std::optional<AcceptedMember> ParseMember(std::string_view text) {
  const size_t semicolon = text.find(';');
  AcceptedMember member{.coding = Trimmed(text.substr(0, semicolon))};
  if (member.coding.empty()) return std::nullopt;
  if (semicolon == text.npos) return member;
  const std::string_view parameter = Trimmed(text.substr(semicolon + 1));
  if (parameter.size() < 2 || !EqualsIgnoringCase(parameter.substr(0, 2), "q=")) {
    return std::nullopt;
  }
  const std::optional<int> weight = ParseWeight(parameter.substr(2));
  if (!weight) return std::nullopt;
  member.weight = *weight;
  return member;
}

// Compresses with zlib into the gzip format, with one state for all bodies.
class GzipCompressor {
 public:
  GzipCompressor() = default;
  GzipCompressor(const GzipCompressor&) = delete;
  GzipCompressor& operator=(const GzipCompressor&) = delete;
  ~GzipCompressor() { deflateEnd(&stream_); }

  // Returns the size written to `out`; 0: it does not fit, or there is no memory.
  size_t Compress(std::string_view body, int level, char* out, size_t capacity) {
    if (!Prepare(level)) return 0;
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
    stream_.avail_in = static_cast<uInt>(body.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(capacity);
    return deflate(&stream_, Z_FINISH) == Z_STREAM_END ? stream_.total_out : 0;
  }

 private:
  bool Prepare(int level) {
    if (level_ == level) return deflateReset(&stream_) == Z_OK;
    constexpr int kGzipWindow = 15 + 16;  // the largest window, and gzip's frame
    constexpr int kMemoryLevel = 8;       // zlib's default
    deflateEnd(&stream_);
    stream_ = {};
    const bool is_ready = deflateInit2(&stream_, level, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                                       Z_DEFAULT_STRATEGY) == Z_OK;
    level_ = is_ready ? level : kNoLevel;
    return is_ready;
  }

  static constexpr int kNoLevel = -2;
  z_stream stream_{};
  int level_ = kNoLevel;
};

using ZstdContext = std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)>;

// Returns the size written to `out`; 0: it does not fit, or there is no memory.
size_t Compress(ContentCoding coding, std::string_view body, int level, char* out,
                size_t capacity) {
  if (coding == ContentCoding::kGzip) {
    thread_local GzipCompressor gzip;
    return gzip.Compress(body, level, out, capacity);
  }
  thread_local const ZstdContext zstd(ZSTD_createCCtx(), &ZSTD_freeCCtx);
  if (zstd == nullptr) return 0;
  const size_t size = ZSTD_compressCCtx(zstd.get(), out, capacity, body.data(), body.size(), level);
  return ZSTD_isError(size) != 0 ? 0 : size;
}

bool IsText(std::string_view content_type) {
  const std::string_view type = Trimmed(content_type.substr(0, content_type.find(';')));
  if (type.starts_with("text/") || type.ends_with("+json") || type.ends_with("+xml")) return true;
  constexpr std::string_view kTypes[] = {"application/json", "application/x-ndjson",
                                         "application/xml", "application/javascript"};
  return std::find(std::begin(kTypes), std::end(kTypes), type) != std::end(kTypes);
}

bool HasMember(std::string_view list, std::string_view member) {
  while (!list.empty()) {
    if (EqualsIgnoringCase(Trimmed(TakePart(&list, ',')), member)) return true;
  }
  return false;
}

bool VariesByCoding(const HttpHeaders& headers) {
  const std::string vary = headers.Joined("Vary");
  return HasMember(vary, kAcceptEncoding) || HasMember(vary, "*");
}

// Whether the response has a whole body that nothing forbids to encode.
bool MayEncode(const HttpResponse& response) {
  constexpr int kPartialContent = 206;
  return response.status >= 200 && response.status != kPartialContent &&
         !response.body_bytes().empty() && !response.headers.Has(kContentEncoding) &&
         !HasMember(response.headers.Joined("Cache-Control"), "no-transform");
}

void WeakenEntityTag(HttpHeaders* headers) {
  const std::string_view tag = headers->Get("ETag");
  if (tag.starts_with('"')) headers->Set("ETag", StrCat("W/", tag));
}

void ReplaceBody(ContentCoding coding, std::string body, HttpResponse* response) {
  response->body = std::move(body);
  response->shared_body = nullptr;
  WeakenEntityTag(&response->headers);
  SetContentCoding(coding, response);
}

}  // namespace

std::string_view ContentCodingName(ContentCoding coding) {
  switch (coding) {
    case ContentCoding::kIdentity:
      return "identity";
    case ContentCoding::kGzip:
      return "gzip";
    case ContentCoding::kZstd:
      return "zstd";
  }
  return "identity";
}

AcceptedCodings::AcceptedCodings(std::string_view accept_encoding) {
  weights_.fill(kUnnamed);
  int others = kUnnamed;  // "*"
  while (!accept_encoding.empty()) {
    const std::optional<AcceptedMember> member = ParseMember(TakePart(&accept_encoding, ','));
    if (!member) continue;
    if (member->coding == "*") others = member->weight;
    for (size_t i = 0; i < kContentCodingCount; ++i) {
      const std::string_view name = ContentCodingName(static_cast<ContentCoding>(i));
      const bool is_alias =
          i == Index(ContentCoding::kGzip) && EqualsIgnoringCase(member->coding, "x-gzip");
      if (is_alias || EqualsIgnoringCase(member->coding, name)) weights_[i] = member->weight;
    }
  }
  int& identity = weights_[Index(ContentCoding::kIdentity)];
  int& gzip = weights_[Index(ContentCoding::kGzip)];
  int& zstd = weights_[Index(ContentCoding::kZstd)];
  // Identity is accepted unless it is refused, after everything that is named.
  if (identity == kUnnamed) identity = others == kUnnamed ? 1 : others;
  if (gzip == kUnnamed) gzip = std::max(others, 0);
  if (zstd == kUnnamed) zstd = 0;
}

std::optional<ContentCoding> AcceptedCodings::Best() const {
  std::optional<ContentCoding> best;
  for (const ContentCoding coding :
       {ContentCoding::kZstd, ContentCoding::kGzip, ContentCoding::kIdentity}) {
    if (!Accepts(coding)) continue;
    if (!best || weights_[Index(coding)] > weights_[Index(*best)]) best = coding;
  }
  return best;
}

std::optional<ContentCoding> ChooseContentCoding(std::string_view accept_encoding) {
  return AcceptedCodings(accept_encoding).Best();
}

std::optional<std::string> EncodeBody(ContentCoding coding, std::string_view body,
                                      const ContentCodingOptions& options) {
  if (coding == ContentCoding::kIdentity || body.size() < options.size_min) return std::nullopt;
  const bool is_gzip = coding == ContentCoding::kGzip;
  if (body.size() > (is_gzip ? options.gzip_size_max : options.zstd_size_max)) return std::nullopt;
  std::string encoded(body.size() - body.size() / 10, '\0');
  const size_t size = Compress(coding, body, is_gzip ? options.gzip_level : options.zstd_level,
                               encoded.data(), encoded.size());
  if (size == 0) return std::nullopt;
  encoded.resize(size);
  encoded.shrink_to_fit();  // it may be kept
  return encoded;
}

std::string WrapBody(ContentCoding coding, std::string_view body) {
  CHECK(coding != ContentCoding::kIdentity);
  constexpr int kStored = 0;
  const bool is_gzip = coding == ContentCoding::kGzip;
  const size_t bound =
      is_gzip ? body.size() + body.size() / 8 + 64 : ZSTD_compressBound(body.size());
  std::string wrapped(bound, '\0');
  const size_t size =
      Compress(coding, body, is_gzip ? kStored : ZSTD_minCLevel(), wrapped.data(), wrapped.size());
  CHECK_GT(size, 0u) << "no memory for a compressor";
  wrapped.resize(size);
  return wrapped;
}

void SetContentCoding(ContentCoding coding, HttpResponse* response) {
  HttpHeaders& headers = response->headers;
  if (coding != ContentCoding::kIdentity) {
    headers.Set(kContentEncoding, ContentCodingName(coding));
  }
  if (VariesByCoding(headers)) return;
  const std::string vary = headers.Joined("Vary");
  headers.Set("Vary",
              vary.empty() ? std::string(kAcceptEncoding) : StrCat(vary, ", ", kAcceptEncoding));
}

void EncodeContent(const HttpHeaders& asked, const ContentCodingOptions& options,
                   HttpResponse* response) {
  if (!MayEncode(*response)) return;
  const AcceptedCodings accepted(asked.Joined(kAcceptEncoding));
  const bool is_decided =
      !IsText(response->headers.Get("Content-Type")) || VariesByCoding(response->headers);
  if (is_decided && accepted.Accepts(ContentCoding::kIdentity)) return;
  const std::optional<ContentCoding> best = accepted.Best();
  if (!best) {
    constexpr int kNotAcceptable = 406;
    if (response->status >= 300) return;
    *response = ProblemResponse(kNotAcceptable, "",
                                "Accept-Encoding refuses gzip, zstd and identity, the codings "
                                "there are");
    return;
  }
  if (!is_decided) {
    if (auto encoded = EncodeBody(*best, response->body_bytes(), options)) {
      return ReplaceBody(*best, *std::move(encoded), response);
    }
  }
  if (accepted.Accepts(ContentCoding::kIdentity)) {
    return SetContentCoding(ContentCoding::kIdentity, response);
  }
  ReplaceBody(*best, WrapBody(*best, response->body_bytes()), response);
}

}  // namespace neptune

// Any bytes as requests, read by HttpRequestReader and by two others: Boost.Beast as it is, and a
// slow reader written from the grammar of RFC 9112. What one accepts and another refuses, or ends
// at another byte, is how requests are smuggled.
//
//   the reader accepts   both others accept: the same method, target, headers, body, and end
//   the reader refuses   another may accept only if the reason is one of kStricter
//   the reader waits     no other has found the end of a request

#include <glog/logging.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "neptune/wire/http/request_reader.h"

namespace {

namespace http = boost::beast::http;
using neptune::EqualsIgnoringCase;
using neptune::HttpReaderOptions;
using neptune::HttpRequest;
using neptune::HttpRequestReader;

constexpr HttpReaderOptions kLimits{.header_size_max = 2048,
                                    .target_size_max = 512,
                                    .body_size_max = 1024,
                                    .header_count_max = 20,
                                    .parameter_count_max = 10};

// Deliberate refusals of what others accept, by the begin of their reasons; the README says why.
constexpr std::string_view kStricter[] = {
    // limits
    "the request target is longer than ",
    "the header is longer than ",
    "more than ",
    "the body is larger than ",
    "a chunk size line or the trailer is too long",
    // lines
    "a header is folded or begins with a blank",
    // for whom it is
    "expected one Host header",
    "malformed Host header",
    "malformed authority in the request target",
    "the request target is not a path",
    "path: ",
    "query: ",
    // where it ends
    "expected one number in Content-Length",
    "both Transfer-Encoding and Content-Length",
    "Transfer-Encoding in HTTP/1.0",
    "the transfer coding \"chunked\" must be the last one, once",
    "only the transfer coding \"chunked\" is supported",
    "bad chunk extension",
    // what it wants
    "CONNECT is not supported",
    "the only expectation that is met is 100-continue",
};
// Refusals that come from Beast; the grammar of single headers is not looked at in the slow reader.
constexpr std::string_view kOfBeast[] = {
    "bad Content-Length", "multiple Content-Length", "bad Transfer-Encoding",
    "bad value",  // of Connection
    "bad chunk",
};

struct Read {
  enum class End { kComplete, kIncomplete, kMalformed };
  End end = End::kIncomplete;
  std::string method;
  std::string target;
  int version = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // sorted
  std::string body;
  size_t size = 0;  // of the request, with the empty lines before it
};

using Headers = std::vector<std::pair<std::string, std::string>>;

size_t EmptyLinesSize(std::string_view bytes) {
  size_t size = 0;
  while (bytes.substr(size).starts_with("\r\n")) size += 2;
  return size;
}

Read ReadWithBeast(std::string_view bytes) {
  Read read;
  const size_t skipped = EmptyLinesSize(bytes);
  bytes.remove_prefix(skipped);
  if (bytes.empty() || bytes == "\r") return read;
  http::request_parser<http::string_body> parser;
  parser.header_limit(UINT32_MAX);
  parser.body_limit(boost::none);
  parser.eager(true);
  boost::beast::error_code error;
  const size_t size = parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  if (error && error != http::error::need_more) read.end = Read::End::kMalformed;
  if (error || !parser.is_done()) return read;
  const auto& message = parser.get();
  read.end = Read::End::kComplete;
  read.method = std::string(message.method_string());
  read.target = std::string(message.target());
  read.version = static_cast<int>(message.version());
  read.body = message.body();
  read.size = skipped + size;
  return read;
}

bool IsControl(char c) { return c != '\t' && absl::ascii_iscntrl(static_cast<unsigned char>(c)); }

bool IsToken(std::string_view text) {
  constexpr std::string_view kSigns = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || kSigns.find(c) != kSigns.npos;
  });
}

std::string_view Trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

// The slow reader. Lines are separated first; each function takes what it reads from *rest and
// returns false if that is malformed.
class GrammarReader {
 public:
  explicit GrammarReader(std::string_view bytes) : rest_(bytes) {}

  Read Run() {
    const size_t all = rest_.size();
    rest_.remove_prefix(EmptyLinesSize(rest_));
    read_.end = RunOrFail();
    read_.size = all - rest_.size();
    return std::move(read_);
  }

 private:
  using End = Read::End;

  End RunOrFail() {
    std::optional<std::string_view> line = Line();
    if (!line) return End::kIncomplete;
    if (!RequestLine(*line)) return End::kMalformed;
    const End headers = Fields(&read_.headers);
    return headers == End::kComplete ? Body() : headers;
  }

  // A line without its end; nullopt: it has not arrived.
  std::optional<std::string_view> Line() {
    const size_t end = rest_.find("\r\n");
    if (end == rest_.npos) return std::nullopt;
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + 2);
    return line;
  }

  bool RequestLine(std::string_view line) {
    const size_t first = line.find(' ');
    const size_t last = line.rfind(' ');
    if (first == line.npos || first == last) return false;
    read_.method = line.substr(0, first);
    read_.target = line.substr(first + 1, last - first - 1);
    const std::string_view version = line.substr(last + 1);
    read_.version = version == "HTTP/1.0" ? 10 : 11;
    return IsToken(read_.method) && !read_.target.empty() &&
           std::none_of(read_.target.begin(), read_.target.end(),
                        [](char c) { return c == ' ' || c == '\t' || IsControl(c); }) &&
           (version == "HTTP/1.0" || version == "HTTP/1.1");
  }

  // Header fields, or those of a trailer, and the empty line after them.
  End Fields(Headers* fields) {
    for (;;) {
      const std::optional<std::string_view> line = Line();
      if (!line) return End::kIncomplete;
      if (line->empty()) return End::kComplete;
      const size_t colon = line->find(':');
      if (colon == line->npos || !IsToken(line->substr(0, colon))) return End::kMalformed;
      const std::string_view value = Trimmed(line->substr(colon + 1));
      if (std::any_of(value.begin(), value.end(), IsControl)) return End::kMalformed;
      fields->emplace_back(line->substr(0, colon), value);
    }
  }

  std::vector<std::string> Values(std::string_view name) const {
    std::vector<std::string> values;
    for (const auto& [known, value] : read_.headers) {
      if (EqualsIgnoringCase(known, name)) values.push_back(value);
    }
    return values;
  }

  static bool Number(std::string_view digits, uint64_t base, uint64_t* number) {
    *number = 0;
    for (const char c : digits) {
      if (!absl::ascii_isxdigit(static_cast<unsigned char>(c))) return false;
      const uint64_t digit = absl::ascii_isdigit(static_cast<unsigned char>(c))
                                 ? static_cast<uint64_t>(c - '0')
                                 : static_cast<uint64_t>(absl::ascii_tolower(c) - 'a' + 10);
      if (digit >= base || *number > (UINT64_MAX - digit) / base) return false;
      *number = *number * base + digit;
    }
    return !digits.empty();
  }

  End Take(uint64_t size) {
    if (rest_.size() < size) return End::kIncomplete;
    read_.body += rest_.substr(0, size);
    rest_.remove_prefix(size);
    return End::kComplete;
  }

  End Body() {
    const std::vector<std::string> codings = Values("Transfer-Encoding");
    const std::vector<std::string> lengths = Values("Content-Length");
    if (codings.empty() && lengths.empty()) return End::kComplete;
    if (codings.empty()) {
      uint64_t length = 0;
      const bool is_number = lengths.size() == 1 && Number(lengths[0], 10, &length);
      return is_number ? Take(length) : End::kMalformed;
    }
    const bool is_chunked = codings.size() == 1 && lengths.empty() && read_.version == 11 &&
                            EqualsIgnoringCase(codings[0], "chunked");
    return is_chunked ? Chunks() : End::kMalformed;
  }

  End Chunks() {
    for (;;) {
      const std::optional<std::string_view> line = Line();
      if (!line) return End::kIncomplete;
      const size_t semicolon = std::min(line->find(';'), line->size());
      uint64_t size = 0;
      const std::string_view number = line->substr(0, semicolon);
      // Blanks before an extension are "bad", but allowed (RFC 9112 7.1.1).
      const bool has_extension = semicolon < line->size();
      if (!Number(has_extension ? Trimmed(number) : number, 16, &size) || number.starts_with(' ') ||
          number.starts_with('\t') || std::any_of(line->begin(), line->end(), IsControl)) {
        return End::kMalformed;
      }
      if (size == 0) break;
      const End data = Take(size);
      if (data != End::kComplete) return data;
      if (rest_.size() < 2) return End::kIncomplete;
      if (!rest_.starts_with("\r\n")) return End::kMalformed;
      rest_.remove_prefix(2);
    }
    Headers trailers;
    return Fields(&trailers);
  }

  std::string_view rest_;
  Read read_;
};

Headers HeadersOf(const HttpRequest& request) {
  Headers headers;
  for (const auto& [name, value] : request.headers) headers.emplace_back(name, value);
  std::sort(headers.begin(), headers.end());
  return headers;
}

bool IsOneOf(std::string_view reason, const auto& prefixes) {
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [&](std::string_view prefix) { return reason.starts_with(prefix); });
}

std::string Shown(std::string_view bytes) { return absl::CEscape({bytes.data(), bytes.size()}); }

void CheckSame(const HttpRequest& request, size_t size, const Read& read, const char* other) {
  CHECK(read.end == Read::End::kComplete) << other << " does not accept it";
  CHECK_EQ(size, read.size) << other;
  CHECK_EQ(request.method, read.method) << other;
  CHECK_EQ(request.version, read.version) << other;
  CHECK_EQ(request.body, read.body) << other;
  // The absolute form loses what comes before the path.
  CHECK(read.target == request.target || !read.target.starts_with('/')) << other;
}

void CheckHeaders(const HttpRequest& request, Read read) {
  if (!read.target.starts_with('/') && read.target != "*") return;  // has another Host
  std::sort(read.headers.begin(), read.headers.end());
  CHECK(HeadersOf(request) == read.headers);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (;;) {
    HttpRequestReader reader(kLimits);
    reader.Feed(bytes);
    const std::optional<HttpRequest> request = reader.Next();
    const Read beast = ReadWithBeast(bytes);
    const Read grammar = GrammarReader(bytes).Run();
    if (request) {
      const size_t taken = bytes.size() - reader.buffered_size();
      CheckSame(*request, taken, beast, "Beast");
      CheckSame(*request, taken, grammar, "the grammar");
      CheckHeaders(*request, grammar);
      bytes.remove_prefix(taken);
      continue;
    }
    if (!reader.error()) {
      CHECK(beast.end != Read::End::kComplete) << "Beast has found its end: " << Shown(bytes);
      CHECK(grammar.end != Read::End::kComplete)
          << "the grammar has found its end: " << Shown(bytes);
      return 0;
    }
    const std::string& reason = reader.error()->reason;
    if (beast.end == Read::End::kComplete)
      CHECK(IsOneOf(reason, kStricter)) << reason << ": " << Shown(bytes);
    if (grammar.end == Read::End::kComplete) {
      CHECK(IsOneOf(reason, kStricter) || IsOneOf(reason, kOfBeast))
          << reason << ": " << Shown(bytes);
    }
    return 0;
  }
}

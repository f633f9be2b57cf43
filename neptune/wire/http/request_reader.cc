#include "neptune/wire/http/request_reader.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "neptune/base/strings.h"
#include "neptune/wire/http/http_syntax.h"
#include "neptune/wire/http/url_decoding.h"

namespace neptune {
namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;

// Size allowed for the method and the version in the request line, in addition to the target.
constexpr size_t kRequestLineRoom = 64;

// Capacity that a reader keeps for its next request; an idle connection holds no more.
constexpr size_t kIdleBufferSizeMax = 512;

constexpr char kFolded[] = "a header is folded or begins with a blank";

std::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

int StatusOfParseError(const error_code& error) {
  if (error == http::error::header_limit) return 431;
  if (error == http::error::body_limit || error == http::error::buffer_overflow) return 413;
  return 400;
}

bool IsDigits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return absl::ascii_isdigit(c); });
}

// The members of a list of transfer codings, without the blanks around them.
std::vector<std::string_view> CodingsOf(std::string_view list) {
  std::vector<std::string_view> codings;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    std::string_view coding = list.substr(begin, end - begin);
    while (coding.starts_with(' ') || coding.starts_with('\t')) coding.remove_prefix(1);
    while (coding.ends_with(' ') || coding.ends_with('\t')) coding.remove_suffix(1);
    codings.push_back(coding);
    begin = end + 1;
  }
  return codings;
}

// A body that grows as it arrives; http::string_body reserves what the client announces.
struct ArrivingBody {
  using value_type = std::string;

  class reader {
   public:
    template <bool isRequest, class Fields>
    reader(http::header<isRequest, Fields>&, value_type& body) : body_(body) {}
    void init(const boost::optional<uint64_t>&, error_code& error) { error = {}; }
    template <class Buffers>
    size_t put(const Buffers& buffers, error_code& error) {
      error = {};
      size_t size = 0;
      for (const auto buffer : boost::beast::buffers_range_ref(buffers)) {
        body_.append(static_cast<const char*>(buffer.data()), buffer.size());
        size += buffer.size();
      }
      return size;
    }
    void finish(error_code& error) { error = {}; }

   private:
    value_type& body_;
  };
};

// True if the first line, after the line end of the chunk before it, has ended within quotes.
bool EndsInQuotes(std::string_view bytes) {
  if (bytes.starts_with("\r\n")) bytes.remove_prefix(2);
  const size_t end = bytes.find('\n');
  if (end == bytes.npos) return false;
  bool is_quoted = false;
  for (size_t i = 0; i < end; ++i) {
    if (bytes[i] == '"') is_quoted = !is_quoted;
    if (bytes[i] == '\\' && is_quoted) ++i;
  }
  return is_quoted;
}

}  // namespace

struct HttpRequestReader::Parsing {
  Parsing() {
    parser.body_limit(boost::none);
    parser.on_chunk_header(on_chunk_header);
  }
  Parsing(const Parsing&) = delete;
  Parsing& operator=(const Parsing&) = delete;

  const std::string& body() const { return parser.get().body(); }

  // Checks the size of a chunk before its bytes arrive. A line end inside a quoted extension is
  // one to other parsers. The trailer follows the last chunk, in the bytes that the parser has.
  void CheckChunk(uint64_t size, std::string_view extensions, error_code& error) {
    error = {};
    if (size == 0) trailer = extensions.data() + extensions.size();
    const bool is_plain = std::none_of(extensions.begin(), extensions.end(), [](char c) {
      return absl::ascii_iscntrl(static_cast<unsigned char>(c)) && c != '\t';
    });
    if (!is_plain) error = http::error::bad_chunk_extension;
    if (size > body_size_max - body().size()) error = http::error::body_limit;
  }

  http::request_parser<ArrivingBody> parser;
  std::function<void(uint64_t, boost::beast::string_view, error_code&)> on_chunk_header =
      [this](uint64_t size, boost::beast::string_view extensions, error_code& error) {
        CheckChunk(size, View(extensions), error);
      };
  HttpRequest request;
  size_t line_begin = 0;  // of the header's line that is looked at, from the header's begin
  size_t body_size_max = 0;
  bool header_done = false;
  // The line end before the trailer, once it is parsed; valid until bytes are fed.
  const char* trailer = nullptr;
};

HttpRequestReader::HttpRequestReader(const HttpReaderOptions& options, HttpBodyGate* gate)
    : options_(options), gate_(gate) {}
HttpRequestReader::~HttpRequestReader() = default;
HttpRequestReader::HttpRequestReader(HttpRequestReader&&) noexcept = default;
HttpRequestReader& HttpRequestReader::operator=(HttpRequestReader&&) noexcept = default;

void HttpRequestReader::Feed(std::string_view bytes) {
  if (error_) return;
  DropConsumed();
  buffer_ += bytes;
}

// Most clients send one request and wait: then nothing is left, and nothing moves.
void HttpRequestReader::DropConsumed() {
  buffer_.erase(0, std::exchange(consumed_, 0));
  if (buffer_.empty() && buffer_.capacity() > kIdleBufferSizeMax) std::string().swap(buffer_);
}

std::optional<HttpRequest> HttpRequestReader::Next() {
  if (error_) return std::nullopt;
  if (parsing_ == nullptr) {
    // Empty lines before a request are skipped, as the grammar advises.
    while (rest().starts_with("\r\n")) consumed_ += 2;
    if (rest().empty() || rest() == "\r") return std::nullopt;
    parsing_ = std::make_unique<Parsing>();
    parsing_->parser.header_limit(static_cast<uint32_t>(options_.header_size_max));
  }
  if (!parsing_->header_done && !ReadHeader()) return std::nullopt;
  if (!ReadBody()) return std::nullopt;
  std::optional<HttpRequest> request = std::move(parsing_->request);
  request->body = std::move(parsing_->parser.get().body());
  parsing_.reset();
  expects_continue_ = false;
  if (rest().empty()) DropConsumed();
  return request;
}

HttpRequestReader::Phase HttpRequestReader::phase() const {
  if (parsing_ == nullptr) return Phase::kBetweenRequests;
  return parsing_->header_done ? Phase::kInBody : Phase::kInHeader;
}

size_t HttpRequestReader::body_size() const {
  return parsing_ != nullptr && parsing_->header_done ? parsing_->body().size() : 0;
}

bool HttpRequestReader::ConsumeExpectsContinue() { return std::exchange(expects_continue_, false); }

bool HttpRequestReader::ReadHeader() {
  if (!FindHeaderEnd()) return false;
  error_code error;
  const size_t size = parsing_->line_begin;
  consumed_ += parsing_->parser.put(boost::asio::buffer(rest().data(), size), error);
  if (error) return Fail(StatusOfParseError(error), error.message());
  if (!parsing_->parser.is_header_done()) return Fail(400, "malformed header");
  parsing_->header_done = true;
  parsing_->parser.eager(true);
  return ParseHeader();
}

// Looks at the lines that have arrived; true once the whole header has. What is malformed is
// refused as soon as its line is there, and Beast gets the header in one piece.
bool HttpRequestReader::FindHeaderEnd() {
  for (;;) {
    const std::string_view unseen = rest().substr(parsing_->line_begin);
    const size_t size = unseen.find('\n');
    const std::string_view line = unseen.substr(0, size);
    const bool is_first = parsing_->line_begin == 0;
    if (is_first && line.size() > options_.target_size_max + kRequestLineRoom) {
      return Fail(414,
                  StrCat("the request target is longer than ", options_.target_size_max, " bytes"));
    }
    if (parsing_->line_begin + line.size() >= options_.header_size_max) {
      return Fail(431, StrCat("the header is longer than ", options_.header_size_max, " bytes"));
    }
    if (is_first && !line.empty() && !kHttpTokenBytes[static_cast<uint8_t>(line[0])]) {
      return Fail(400, "a request begins with its method");
    }
    if (size == unseen.npos) return false;
    if (!CheckLine(line, is_first)) return false;
    parsing_->line_begin += size + 1;
    if (line == "\r") return true;
  }
}

bool HttpRequestReader::CheckLine(std::string_view line, bool is_first) {
  if (!line.ends_with('\r')) return Fail(400, "a line ends without a carriage return");
  line.remove_suffix(1);
  if (is_first) return CheckRequestLine(line);
  if (line.starts_with(' ') || line.starts_with('\t')) {
    return Fail(400, kFolded);
  }
  return true;
}

bool HttpRequestReader::CheckRequestLine(std::string_view line) {
  const size_t method_size = std::min(line.find(' '), line.size());
  const std::string_view method = line.substr(0, method_size);
  line.remove_prefix(std::min(method_size + 1, line.size()));
  const size_t target_size = std::min(line.find(' '), line.size());
  const std::string_view version = line.substr(std::min(target_size + 1, line.size()));
  if (!IsHttpToken(method) || target_size == 0) return Fail(400, "malformed request line");
  parsing_->request.method = method;
  constexpr std::string_view kForm = "HTTP/1.1";
  if (version.size() != kForm.size() || !version.starts_with("HTTP/") || version[6] != '.' ||
      !IsDigits(version.substr(5, 1)) || !IsDigits(version.substr(7))) {
    return Fail(400, "malformed version in the request line");
  }
  if (version == "HTTP/1.1" || version == "HTTP/1.0") return true;
  return Fail(505, "only HTTP/1.1 and HTTP/1.0 are supported");
}

bool HttpRequestReader::ReadBody() {
  auto& parser = parsing_->parser;
  while (!parser.is_done()) {
    if (rest().empty()) return false;
    if (gate_ != nullptr && !gate_->Hold(parsing_->body().size() + rest().size())) {
      return Fail(503, "the server holds as many bytes of request bodies as it may");
    }
    error_code error;
    consumed_ += parser.put(boost::asio::buffer(rest().data(), rest().size()), error);
    if (error == http::error::need_more) {
      // Beast waits for the other quote; others take the line end for the end of the line.
      if (EndsInQuotes(rest())) return Fail(400, "bad chunk extension");
      // Only a chunk size line or the trailer can be incomplete here; it is bounded like a header.
      if (rest().size() <= options_.header_size_max) return false;
      return Fail(431, "a chunk size line or the trailer is too long");
    }
    if (error == http::error::body_limit) return FailBodySize();
    if (error) return Fail(StatusOfParseError(error), error.message());
    if (parser.is_done() && parsing_->trailer != nullptr && IsTrailerFolded()) {
      return Fail(400, kFolded);
    }
  }
  return true;
}

// Beast takes folded fields, and the lines of a trailer are not seen here before.
bool HttpRequestReader::IsTrailerFolded() const {
  const char* const end = buffer_.data() + consumed_;
  const std::string_view lines(parsing_->trailer, static_cast<size_t>(end - parsing_->trailer));
  return lines.find("\n ") != lines.npos || lines.find("\n\t") != lines.npos;
}

bool HttpRequestReader::ParseHeader() {
  const auto& message = parsing_->parser.get();
  HttpRequest& request = parsing_->request;
  request.version = static_cast<int>(message.version());
  request.keep_alive = parsing_->parser.keep_alive();
  for (const auto& field : message) {
    if (request.headers.size() == options_.header_count_max) {
      return Fail(431, StrCat("more than ", options_.header_count_max, " headers"));
    }
    request.headers.Add(View(field.name_string()), View(field.value()));
  }
  return CheckHost() && CheckFraming() && ParseTarget(View(message.target())) &&
         CheckExpectation() && AdmitBody();
}

bool HttpRequestReader::CheckHost() {
  const HttpRequest& request = parsing_->request;
  const size_t host_count = request.headers.Count("Host");
  if (host_count > 1 || (host_count == 0 && request.version >= 11)) {
    return Fail(400, StrCat("expected one Host header, found ", host_count));
  }
  return IsHttpHost(request.headers.Get("Host")) || Fail(400, "malformed Host header");
}

bool HttpRequestReader::CheckFraming() {
  const HttpHeaders& headers = parsing_->request.headers;
  const size_t length_count = headers.Count("Content-Length");
  if (length_count > 1 || (length_count == 1 && !IsDigits(headers.Get("Content-Length")))) {
    return Fail(400, "expected one number in Content-Length");
  }
  if (!headers.Has("Transfer-Encoding")) return true;
  if (length_count > 0) return Fail(400, "both Transfer-Encoding and Content-Length");
  if (parsing_->request.version < 11) return Fail(400, "Transfer-Encoding in HTTP/1.0");
  const std::string list = headers.Joined("Transfer-Encoding");
  const std::vector<std::string_view> codings = CodingsOf(list);
  const auto is_chunked = [](std::string_view coding) {
    return EqualsIgnoringCase(coding, "chunked");
  };
  // Only "chunked" as the last coding says where the body ends.
  if (!is_chunked(codings.back()) || std::any_of(codings.begin(), codings.end() - 1, is_chunked)) {
    return Fail(400, "the transfer coding \"chunked\" must be the last one, once");
  }
  if (codings.size() > 1 || !parsing_->parser.chunked()) {
    return Fail(501, "only the transfer coding \"chunked\" is supported");
  }
  return true;
}

// RFC 9110 10.1.1: an older client cannot mean it; others get an answer instead of waiting.
bool HttpRequestReader::CheckExpectation() {
  const HttpRequest& request = parsing_->request;
  if (request.version < 11) return true;
  const std::string expectation = request.headers.Joined("Expect");
  if (expectation.empty()) return true;
  if (!EqualsIgnoringCase(expectation, "100-continue")) {
    return Fail(417, "the only expectation that is met is 100-continue");
  }
  expects_continue_ = !parsing_->parser.is_done();
  return true;
}

bool HttpRequestReader::AdmitBody() {
  if (parsing_->parser.is_done()) return true;
  parsing_->body_size_max = options_.body_size_max;
  if (gate_ != nullptr) {
    HttpBodyPermit permit = gate_->Admit(&parsing_->request);
    if (permit.refusal) {
      const int status = permit.refusal->status;
      Refuse({.status = status, .reason = "refused", .response = std::move(permit.refusal)});
      return false;
    }
    parsing_->body_size_max = std::min(options_.body_size_max, permit.size_max);
  }
  const auto length = parsing_->parser.content_length();
  return !length || *length <= parsing_->body_size_max || FailBodySize();
}

bool HttpRequestReader::ParseTarget(std::string_view target) {
  HttpRequest& request = parsing_->request;
  if (target.size() > options_.target_size_max) {
    return Fail(414,
                StrCat("the request target is longer than ", options_.target_size_max, " bytes"));
  }
  if (request.method == "CONNECT") return Fail(501, "CONNECT is not supported");
  if (target.find('#') != target.npos) return Fail(400, "path: the request target has a fragment");
  request.target = target;
  if (!target.starts_with('/') && target != "*" && !ParseAbsoluteTarget(target)) return false;
  if (request.target == "*" && request.method == "OPTIONS") {
    request.path = "*";
    return true;
  }
  if (!request.target.starts_with('/')) {
    return Fail(400, "the request target is not a path");
  }
  const std::string_view whole = request.target;
  const size_t question = whole.find('?');
  if (question != whole.npos) request.query = whole.substr(question + 1);
  auto path = PercentDecode(whole.substr(0, question), PlusMeaning::kPlus);
  if (!path.ok()) return Fail(400, StrCat("path: ", ToStd(path.status().message())));
  request.path = *std::move(path);
  auto parameters = ParseQueryParameters(request.query, options_.parameter_count_max);
  if (!parameters.ok()) return Fail(400, StrCat("query: ", ToStd(parameters.status().message())));
  request.parameters = *std::move(parameters);
  return true;
}

// Absolute form, as sent to proxies: the target is the part after the authority, which takes the
// place of the Host header (RFC 9112 3.2.2).
bool HttpRequestReader::ParseAbsoluteTarget(std::string_view target) {
  HttpRequest& request = parsing_->request;
  const size_t scheme_size = std::min(target.find("://"), target.size());
  const std::string_view scheme = target.substr(0, scheme_size);
  if (!EqualsIgnoringCase(scheme, "http") && !EqualsIgnoringCase(scheme, "https")) {
    return Fail(400, "the request target is not a path");
  }
  target.remove_prefix(std::min(scheme_size + 3, target.size()));
  const size_t authority_size = std::min(target.find_first_of("/?"), target.size());
  const std::string_view authority = target.substr(0, authority_size);
  if (authority.empty() || authority.starts_with(':') || !IsHttpHost(authority)) {
    return Fail(400, "malformed authority in the request target");
  }
  request.headers.Set("Host", authority);
  request.target = target.substr(authority_size);
  if (request.target.empty()) {
    request.target = request.method == "OPTIONS" ? "*" : "/";
  } else if (request.target.starts_with('?')) {
    request.target.insert(0, "/");
  }
  return true;
}

void HttpRequestReader::Refuse(HttpReadError error) {
  if (error_) return;
  error.is_head = parsing_ != nullptr && parsing_->request.method == "HEAD";
  error_ = std::move(error);
  parsing_.reset();
  buffer_.clear();
  consumed_ = 0;
  expects_continue_ = false;
}

bool HttpRequestReader::FailBodySize() {
  return Fail(413, StrCat("the body is larger than ", parsing_->body_size_max, " bytes"));
}

bool HttpRequestReader::Fail(int status, std::string reason) {
  Refuse({.status = status, .reason = std::move(reason)});
  return false;
}

}  // namespace neptune

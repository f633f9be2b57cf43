#include "neptune/wire/http/request_reader.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <limits>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/wire/http/url_decoding.h"

namespace neptune {
namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;

// Size allowed for the method and the version in the request line, in addition to the target.
constexpr size_t kRequestLineRoom = 64;

// Capacity that a reader keeps for its next request; an idle connection holds no more.
constexpr size_t kIdleBufferSizeMax = 512;

std::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

int StatusOfParseError(const error_code& error) {
  if (error == http::error::header_limit) return 431;
  if (error == http::error::body_limit || error == http::error::buffer_overflow) return 413;
  if (error == http::error::bad_version) return 505;
  return 400;
}

}  // namespace

struct HttpRequestReader::Parsing {
  http::request_parser<http::string_body> parser;
  HttpRequest request;
  bool header_done = false;
};

HttpRequestReader::HttpRequestReader(const HttpReaderOptions& options) : options_(options) {}
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
    parsing_->parser.body_limit(options_.body_size_max);
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

bool HttpRequestReader::ConsumeExpectsContinue() { return std::exchange(expects_continue_, false); }

bool HttpRequestReader::ReadHeader() {
  if (!CheckRequestLine()) return false;
  error_code error;
  consumed_ += parsing_->parser.put(boost::asio::buffer(rest().data(), rest().size()), error);
  if (error == http::error::need_more) return false;
  if (error) return Fail(StatusOfParseError(error), error.message());
  if (!parsing_->parser.is_header_done()) return false;
  parsing_->header_done = true;
  parsing_->parser.eager(true);
  return ParseHeader();
}

// Beast parses the request line only when the whole header has arrived. This check distinguishes a
// target that is too long from headers that are too long before that.
bool HttpRequestReader::CheckRequestLine() {
  const size_t line_end = rest().find('\n');
  const size_t line_size = line_end == std::string_view::npos ? rest().size() : line_end;
  if (line_size <= options_.target_size_max + kRequestLineRoom) return true;
  return Fail(414,
              StrCat("the request target is longer than ", options_.target_size_max, " bytes"));
}

bool HttpRequestReader::ReadBody() {
  auto& parser = parsing_->parser;
  while (!parser.is_done()) {
    if (rest().empty()) return false;
    error_code error;
    consumed_ += parser.put(boost::asio::buffer(rest().data(), rest().size()), error);
    if (error == http::error::need_more) {
      // Only a chunk size line or the trailer can be incomplete here; it is bounded like a header.
      if (rest().size() <= options_.header_size_max) return false;
      return Fail(431, "a chunk size line or the trailer is too long");
    }
    if (error) return Fail(StatusOfParseError(error), error.message());
  }
  return true;
}

bool HttpRequestReader::ParseHeader() {
  const auto& message = parsing_->parser.get();
  HttpRequest& request = parsing_->request;
  request.method = View(message.method_string());
  request.version = static_cast<int>(message.version());
  request.keep_alive = parsing_->parser.keep_alive();
  for (const auto& field : message) {
    if (request.headers.size() == options_.header_count_max) {
      return Fail(431, StrCat("more than ", options_.header_count_max, " headers"));
    }
    request.headers.Add(View(field.name_string()), View(field.value()));
  }
  if (!CheckFraming() || !ParseTarget(View(message.target()))) return false;
  expects_continue_ = request.version >= 11 && !parsing_->parser.is_done() &&
                      EqualsIgnoringCase(request.headers.Get("Expect"), "100-continue");
  return true;
}

bool HttpRequestReader::CheckFraming() {
  const HttpRequest& request = parsing_->request;
  const size_t host_count = request.headers.Count("Host");
  if (host_count > 1 || (host_count == 0 && request.version >= 11)) {
    return Fail(400, StrCat("expected one Host header, found ", host_count));
  }
  if (!request.headers.Has("Transfer-Encoding")) return true;
  if (request.headers.Has("Content-Length")) {
    return Fail(400, "both Transfer-Encoding and Content-Length");
  }
  if (request.version < 11) return Fail(400, "Transfer-Encoding in HTTP/1.0");
  if (!parsing_->parser.chunked() ||
      !EqualsIgnoringCase(request.headers.Get("Transfer-Encoding"), "chunked")) {
    return Fail(501, "only the transfer coding \"chunked\" is supported");
  }
  return true;
}

bool HttpRequestReader::ParseTarget(std::string_view target) {
  HttpRequest& request = parsing_->request;
  if (target.size() > options_.target_size_max) {
    return Fail(414,
                StrCat("the request target is longer than ", options_.target_size_max, " bytes"));
  }
  if (const size_t scheme = target.find("://"); !target.starts_with('/') && scheme != target.npos) {
    // Absolute form, as sent to proxies: the target is the part after the authority.
    const size_t path = target.find_first_of("/?", scheme + 3);
    request.target = path == target.npos ? "/" : std::string(target.substr(path));
    if (request.target.starts_with('?')) request.target.insert(0, "/");
  } else {
    request.target = target;
  }
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

bool HttpRequestReader::Fail(int status, std::string reason) {
  error_ = HttpReadError{status, std::move(reason)};
  parsing_.reset();
  buffer_.clear();
  consumed_ = 0;
  expects_continue_ = false;
  return false;
}

}  // namespace neptune

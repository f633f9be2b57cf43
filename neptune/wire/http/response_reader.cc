#include "neptune/wire/http/response_reader.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <utility>

namespace neptune {

namespace http = boost::beast::http;

struct HttpResponseReader::Parsing {
  http::response_parser<http::string_body> parser;
};

HttpResponseReader::HttpResponseReader(const HttpResponseReaderOptions& options)
    : options_(options) {}
HttpResponseReader::~HttpResponseReader() = default;

void HttpResponseReader::Expect(std::string_view method) {
  head_expected_.push_back(method == "HEAD");
}

void HttpResponseReader::Feed(std::string_view bytes) {
  buffer_.erase(0, std::exchange(consumed_, 0));
  buffer_ += bytes;
}

void HttpResponseReader::FeedEnd() { ended_ = true; }

StatusOr<std::optional<HttpResponse>> HttpResponseReader::Next() {
  while (status_.ok()) {
    StatusOr<bool> complete = Advance();
    if (!complete.ok()) {
      status_ = complete.status();
      break;
    }
    if (!*complete) return std::optional<HttpResponse>();
    HttpResponse response = Take();
    if (response.status / 100 == 1) continue;
    if (!head_expected_.empty()) head_expected_.pop_front();
    return std::optional<HttpResponse>(std::move(response));
  }
  return status_;
}

// Returns true if the response at the front of the buffer is complete.
StatusOr<bool> HttpResponseReader::Advance() {
  if (parsing_ == nullptr) {
    if (consumed_ == buffer_.size()) return false;
    parsing_ = std::make_unique<Parsing>();
    parsing_->parser.header_limit(static_cast<uint32_t>(options_.header_size_max));
    parsing_->parser.body_limit(options_.body_size_max);
    parsing_->parser.eager(true);
    parsing_->parser.skip(!head_expected_.empty() && head_expected_.front());
  }
  auto& parser = parsing_->parser;
  boost::beast::error_code error;
  while (!parser.is_done() && consumed_ < buffer_.size()) {
    consumed_ += parser.put(
        boost::asio::buffer(buffer_.data() + consumed_, buffer_.size() - consumed_), error);
    if (error == http::error::need_more) break;
    if (error) return InvalidArgument("reading a response: ", error.message());
  }
  if (parser.is_header_done() && !parser.chunked() &&
      parser.get().count(http::field::transfer_encoding) > 0) {
    return InvalidArgument("reading a response: only the transfer coding chunked is supported");
  }
  if (parser.is_done() || !ended_) return parser.is_done();
  if (parser.got_some()) parser.put_eof(error);
  if (!parser.is_done()) return Unavailable("the connection ended inside a response");
  return true;
}

HttpResponse HttpResponseReader::Take() {
  keep_alive_ = parsing_->parser.keep_alive();
  auto message = parsing_->parser.release();
  parsing_.reset();
  HttpResponse response;
  response.status = static_cast<int>(message.result_int());
  for (const auto& field : message) {
    const auto name = field.name_string();
    const auto value = field.value();
    response.headers.Add({name.data(), name.size()}, {value.data(), value.size()});
  }
  response.body = std::move(message.body());
  return response;
}

}  // namespace neptune

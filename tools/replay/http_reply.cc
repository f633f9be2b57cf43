#include "tools/replay/http_reply.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "neptune/wire/http/http_message.h"

namespace search::tools {
namespace {

using neptune::EqualsIgnoringCase;
using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool ParseSize(std::string_view text, int base, size_t* size) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), *size, base);
  return !text.empty() && error == std::errc() && stop == text.data() + text.size();
}

}  // namespace

StatusOr<bool> HttpReplyReader::Feed(std::string_view bytes, HttpReply* reply) {
  buffer_ += bytes;
  return Advance(reply);
}

StatusOr<bool> HttpReplyReader::Advance(HttpReply* reply) {
  while (!head_read_) {
    const size_t end = buffer_.find("\r\n\r\n");
    if (end == buffer_.npos) {
      if (buffer_.size() > kHeadSizeMax) return InvalidArgument("the answer's head is too long");
      return false;
    }
    NEPTUNE_RETURN_IF_ERROR(ReadHead(std::string_view(buffer_).substr(0, end)));
    buffer_.erase(0, end + 4);
    head_read_ = status_ >= 200;
  }
  return ReadBody(reply);
}

Status HttpReplyReader::ReadHead(std::string_view head) {
  const Status malformed = InvalidArgument("the answer is not HTTP/1.1");
  const std::string_view first = head.substr(0, head.find("\r\n"));
  size_t status = 0;
  if (!first.starts_with("HTTP/1.") || first.size() < 12 || first[8] != ' ' ||
      !ParseSize(first.substr(9, 3), 10, &status)) {
    return malformed;
  }
  status_ = static_cast<int>(status);
  keep_alive_ = first[7] != '0';
  const bool without_body = status == 204 || status == 304;
  length_ = without_body ? Length::kGiven : Length::kUntilEnd;
  body_size_ = 0;
  for (head.remove_prefix(first.size()); head.size() > 2;) {
    head.remove_prefix(2);
    const std::string_view line = head.substr(0, std::min(head.find("\r\n"), head.size()));
    head.remove_prefix(line.size());
    const size_t colon = line.find(':');
    if (colon == line.npos) return malformed;
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = Trimmed(line.substr(colon + 1));
    if (EqualsIgnoringCase(name, "Connection")) {
      keep_alive_ = EqualsIgnoringCase(value, "keep-alive") ||
                    (keep_alive_ && !EqualsIgnoringCase(value, "close"));
    } else if (EqualsIgnoringCase(name, "Transfer-Encoding") && !without_body) {
      if (!EqualsIgnoringCase(value, "chunked")) return malformed;
      length_ = Length::kChunked;
    } else if (EqualsIgnoringCase(name, "Content-Length") && length_ == Length::kUntilEnd) {
      if (!ParseSize(value, 10, &body_size_)) return malformed;
      length_ = Length::kGiven;
    }
  }
  if (body_size_ > kBodySizeMax) return InvalidArgument("the answer is too large");
  return neptune::OkStatus();
}

StatusOr<bool> HttpReplyReader::ReadBody(HttpReply* reply) {
  if (buffer_.size() + chunks_.size() > kBodySizeMax + kHeadSizeMax) {
    return InvalidArgument("the answer is too large");
  }
  if (length_ == Length::kUntilEnd) return false;
  if (length_ == Length::kChunked) {
    NEPTUNE_ASSIGN_OR_RETURN(const bool whole, ReadChunks());
    if (!whole) return false;
    done_ = std::exchange(chunks_, {});
  } else {
    if (buffer_.size() < body_size_) return false;
    if (buffer_.size() == body_size_) {
      done_.swap(buffer_);
      buffer_.clear();
    } else {
      done_.assign(buffer_, 0, body_size_);
      buffer_.erase(0, body_size_);
    }
  }
  Take(reply);
  return true;
}

StatusOr<bool> HttpReplyReader::ReadChunks() {
  for (;;) {
    const size_t line_end = buffer_.find("\r\n");
    if (line_end == buffer_.npos) {
      if (buffer_.size() > kHeadSizeMax) return InvalidArgument("a chunk's size is too long");
      return false;
    }
    const std::string_view line = std::string_view(buffer_).substr(0, line_end);
    size_t size = 0;
    if (!ParseSize(Trimmed(line.substr(0, line.find(';'))), 16, &size) || size > kBodySizeMax) {
      return InvalidArgument("a chunk's size is not a number in bounds");
    }
    if (buffer_.size() < line_end + 2 + size + 2) return false;
    if (buffer_.compare(line_end + 2 + size, 2, "\r\n") != 0) {
      return InvalidArgument(size == 0 ? "trailers are not supported"
                                       : "a chunk is not terminated");
    }
    chunks_.append(buffer_, line_end + 2, size);
    buffer_.erase(0, line_end + 2 + size + 2);
    if (size == 0) return true;
    if (chunks_.size() > kBodySizeMax) return InvalidArgument("the answer is too large");
  }
}

bool HttpReplyReader::FeedEnd(HttpReply* reply) {
  if (!head_read_ || length_ != Length::kUntilEnd) return false;
  done_ = std::exchange(buffer_, {});
  keep_alive_ = false;
  Take(reply);
  return true;
}

void HttpReplyReader::Take(HttpReply* reply) {
  *reply = {.status = status_, .keep_alive = keep_alive_, .body = done_};
  head_read_ = false;
}

}  // namespace search::tools

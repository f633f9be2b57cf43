#include "tools/bench_server/answer_scan.h"

#include <charconv>
#include <cstdint>
#include <optional>

namespace search::tools {
namespace {

using State = AnswerScan::State;

constexpr std::string_view kLineEnd = "\r\n";
constexpr int kStatusOk = 200;
constexpr int kStatusFailed = 500;
constexpr int kStatusNotReady = 503;
// "HTTP/1.1 200"
constexpr size_t kVersionSize = 9;
constexpr size_t kStatusSize = 3;

AnswerScan Broken() { return {.state = State::kBroken}; }
AnswerScan More(std::string_view bytes) {
  return {.state = bytes.size() > kAnswerSizeMax ? State::kBroken : State::kMore};
}

char LowerCase(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (LowerCase(text[i]) != lower[i]) return false;
  }
  return true;
}

template <typename Number>
std::optional<Number> ParseNumber(std::string_view digits, int base) {
  Number value = 0;
  const char* const end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, value, base);
  if (digits.empty() || parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return value;
}

std::string_view Trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// What the header says about the body.
struct Head {
  int status = 0;
  bool is_chunked = false;
  bool closes = false;
  std::optional<size_t> length;
};

std::optional<Head> ParseHead(std::string_view text) {
  if (!text.starts_with("HTTP/1.") || text.size() < kVersionSize + kStatusSize) return std::nullopt;
  const auto status = ParseNumber<int>(text.substr(kVersionSize, kStatusSize), 10);
  if (!status) return std::nullopt;
  Head head = {.status = *status, .closes = text.starts_with("HTTP/1.0")};
  while (!text.empty()) {
    const size_t end = text.find(kLineEnd);
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + kLineEnd.size());
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = Trimmed(line.substr(colon + 1));
    if (EqualsIgnoringCase(name, "content-length")) {
      head.length = ParseNumber<size_t>(value, 10);
      if (!head.length || *head.length > kAnswerSizeMax) return std::nullopt;
    } else if (EqualsIgnoringCase(name, "transfer-encoding")) {
      head.is_chunked = EqualsIgnoringCase(value, "chunked");
    } else if (EqualsIgnoringCase(name, "connection")) {
      head.closes = EqualsIgnoringCase(value, "close");
    }
  }
  return head;
}

// The end of a chunked body that begins at `at`. nullopt: more bytes are needed; 0: malformed.
std::optional<size_t> ChunkedEnd(std::string_view bytes, size_t at) {
  while (true) {
    const size_t line_end = bytes.find(kLineEnd, at);
    if (line_end == std::string_view::npos) return std::nullopt;
    std::string_view digits = bytes.substr(at, line_end - at);
    digits = Trimmed(digits.substr(0, digits.find(';')));
    const auto size = ParseNumber<size_t>(digits, 16);
    if (!size || *size > kAnswerSizeMax) return 0;
    at = line_end + kLineEnd.size();
    if (*size == 0) break;
    at += *size + kLineEnd.size();
    if (at > bytes.size()) return std::nullopt;
  }
  // Trailing fields, then an empty line.
  while (true) {
    const size_t line_end = bytes.find(kLineEnd, at);
    if (line_end == std::string_view::npos) return std::nullopt;
    const bool is_empty = line_end == at;
    at = line_end + kLineEnd.size();
    if (is_empty) return at;
  }
}

// The end of the reply that begins at `at`. nullopt: more bytes are needed; 0: malformed.
std::optional<size_t> ReplyEnd(std::string_view bytes, size_t at, int depth) {
  if (depth > kReplyDepthMax) return 0;
  const size_t line_end = bytes.find(kLineEnd, at);
  if (line_end == std::string_view::npos) return std::nullopt;
  const char kind = bytes[at];
  const std::string_view line = bytes.substr(at + 1, line_end - at - 1);
  size_t end = line_end + kLineEnd.size();
  if (kind == '+' || kind == '-' || kind == ':') return end;
  const auto count = ParseNumber<int64_t>(line, 10);
  if ((kind != '$' && kind != '*') || !count || *count > int64_t{kAnswerSizeMax}) return 0;
  if (*count < 0) return end;  // none
  if (kind == '$') {
    end += static_cast<size_t>(*count) + kLineEnd.size();
    return end <= bytes.size() ? std::optional<size_t>(end) : std::nullopt;
  }
  for (int64_t i = 0; i < *count; ++i) {
    const auto element_end = ReplyEnd(bytes, end, depth + 1);
    if (!element_end || *element_end == 0) return element_end;
    end = *element_end;
  }
  return end;
}

}  // namespace

AnswerScan ScanHttpAnswer(std::string_view bytes, bool at_end) {
  constexpr std::string_view kHeadEnd = "\r\n\r\n";
  const size_t head_end = bytes.find(kHeadEnd);
  if (head_end == std::string_view::npos) return at_end ? Broken() : More(bytes);
  const auto head = ParseHead(bytes.substr(0, head_end));
  if (!head) return Broken();
  const size_t body = head_end + kHeadEnd.size();
  AnswerScan done = {.state = State::kDone, .status = head->status, .closes = head->closes};
  if (head->is_chunked) {
    const auto end = ChunkedEnd(bytes, body);
    if (end && *end == 0) return Broken();
    if (!end) return at_end ? Broken() : More(bytes);
    done.size = *end;
    return done;
  }
  if (head->length) {
    done.size = body + *head->length;
    if (bytes.size() >= done.size) return done;
    return at_end ? Broken() : More(bytes);
  }
  if (!at_end) return More(bytes);
  done.size = bytes.size();
  done.closes = true;
  return done;
}

AnswerScan ScanRedisAnswer(std::string_view bytes, bool at_end) {
  if (bytes.empty()) return at_end ? Broken() : More(bytes);
  const auto end = ReplyEnd(bytes, 0, 0);
  if (end && *end == 0) return Broken();
  if (!end) return at_end ? Broken() : More(bytes);
  AnswerScan done = {.state = State::kDone, .size = *end, .status = kStatusOk};
  if (bytes[0] == '-') {
    const bool is_busy = bytes.starts_with("-LOADING") || bytes.starts_with("-BUSY");
    done.status = is_busy ? kStatusNotReady : kStatusFailed;
  }
  return done;
}

}  // namespace search::tools

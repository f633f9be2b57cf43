#include "neptune/wire/http/message_writer.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "absl/strings/ascii.h"
#include "neptune/wire/http/http_syntax.h"

namespace neptune {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
// Room for the status line and the headers that are added here.
constexpr size_t kAddedSize = 192;

bool IsFraming(std::string_view name) {
  for (const std::string_view framing :
       {"Content-Length", "Transfer-Encoding", "Connection", "Date"}) {
    if (name.size() == framing.size() && EqualsIgnoringCase(name, framing)) return true;
  }
  return false;
}

void AppendNumber(uint64_t number, std::string* out) {
  char digits[20];
  const char* const end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
  out->append(digits, static_cast<size_t>(end - digits));
}

void AppendLine(std::string_view name, std::string_view value, std::string* out) {
  out->append(name).append(": ").append(value).append(kLineEnd);
}

void AppendHeaders(const HttpHeaders& headers, std::string* out) {
  for (const auto& [name, value] : headers) {
    if (IsFraming(name) || !IsHttpToken(name)) continue;
    if (name.size() + value.size() > kHeaderLineSizeMax) continue;
    AppendLine(name, value, out);
    const auto value_end = out->end() - static_cast<ptrdiff_t>(kLineEnd.size());
    std::replace_if(
        value_end - static_cast<ptrdiff_t>(value.size()), value_end,
        [](char c) { return absl::ascii_iscntrl(static_cast<unsigned char>(c)); }, ' ');
  }
}

size_t SizeOf(const HttpHeaders& headers) {
  size_t size = 0;
  for (const auto& [name, value] : headers) size += name.size() + value.size() + 4;
  return size;
}

bool MayHaveBody(int status) { return status / 100 != 1 && status != 204 && status != 304; }

// The number in two digits, or four.
void PutDigits(int number, int digit_count, char* at) {
  for (int i = digit_count - 1; i >= 0; --i, number /= 10) {
    at[i] = static_cast<char>('0' + number % 10);
  }
}

void AppendBodyHeaders(const HttpResponse& response, std::string* out) {
  const size_t size = response.body_bytes().size();
  if (size > 0 && !response.headers.Has("Content-Type")) {
    AppendLine("Content-Type", "application/octet-stream", out);
  }
  *out += "Content-Length: ";
  AppendNumber(size, out);
  *out += kLineEnd;
}

// The status line and the headers, in text with room for `body_size` bytes more.
std::string ResponseHead(const HttpResponse& response, const HttpAnswerContext& context,
                         std::string_view date, size_t body_size) {
  std::string head;
  head.reserve(kAddedSize + SizeOf(response.headers) + body_size);
  AppendHttpStart(response.status, date, &head);
  AppendHeaders(response.headers, &head);
  if (MayHaveBody(response.status)) AppendBodyHeaders(response, &head);
  if (!context.keep_alive) {
    AppendLine("Connection", "close", &head);
  } else if (context.version < 11) {
    AppendLine("Connection", "keep-alive", &head);
  }
  head += kLineEnd;
  return head;
}

std::string Serialize(const HttpResponse& response, const HttpAnswerContext& context,
                      std::string_view date) {
  const bool body_sent = MayHaveBody(response.status) && !context.head;
  const std::string_view body = body_sent ? response.body_bytes() : std::string_view();
  std::string bytes = ResponseHead(response, context, date, body.size());
  bytes += body;
  return bytes;
}

}  // namespace

void AppendHttpStart(int status, std::string_view date, std::string* out) {
  *out += "HTTP/1.1 ";
  AppendNumber(static_cast<uint64_t>(std::clamp(status, 100, 999)), out);
  out->append(" ").append(HttpReasonPhrase(status)).append(kLineEnd);
  AppendLine("Date", date, out);
}

PreparedHttpHead PrepareHttpHead(HttpResponse response, bool security_headers) {
  PreparedHttpHead head;
  AppendHeaders(response.headers, &head.begin);
  if (security_headers) {
    AddSecurityHeaders(&response);  // after the others
    std::string all;
    AppendHeaders(response.headers, &all);
    head.end = all.substr(head.begin.size());
  }
  AppendBodyHeaders(response, &head.end);
  head.end += kLineEnd;
  return head;
}

std::string SerializeHttpResponse(const HttpResponse& response, const HttpAnswerContext& context,
                                  WallTime now) {
  return Serialize(response, context, FormatHttpDate(now));
}

HttpResponseBytes MoveHttpResponse(HttpResponse response, const HttpAnswerContext& context,
                                   std::string_view date) {
  const bool body_sent = MayHaveBody(response.status) && !context.head;
  if (!body_sent || response.shared_body != nullptr || response.body.size() < kBodyMovedSize) {
    return {Serialize(response, context, date), {}};
  }
  std::string head = ResponseHead(response, context, date, 0);
  return {std::move(head), std::move(response.body)};
}

std::string SerializeHttpRequest(std::string_view method, std::string_view target,
                                 std::string_view host, const HttpHeaders& headers,
                                 std::string_view body) {
  std::string bytes;
  bytes.reserve(kAddedSize + method.size() + target.size() + host.size() + SizeOf(headers) +
                body.size());
  bytes.append(method).append(" ").append(target).append(" HTTP/1.1\r\n");
  AppendLine("Host", host, &bytes);
  AppendHeaders(headers, &bytes);
  if (EqualsIgnoringCase(headers.Get("Connection"), "close")) {
    AppendLine("Connection", "close", &bytes);
  }
  if (!body.empty()) {
    bytes += "Content-Length: ";
    AppendNumber(body.size(), &bytes);
    bytes += kLineEnd;
  }
  bytes += kLineEnd;
  bytes += body;
  return bytes;
}

std::string FormatHttpDate(WallTime time) {
  using std::chrono::days;
  using std::chrono::seconds;
  constexpr std::string_view kDays = "SunMonTueWedThuFriSat";
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const std::chrono::sys_seconds instant{
      std::chrono::floor<seconds>(std::chrono::nanoseconds(time.ns_since_1970))};
  const auto day = std::chrono::floor<days>(instant);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(instant - day);
  std::string text = "Sun, 00 Jan 0000 00:00:00 GMT";
  kDays.copy(&text[0], 3, 3 * std::chrono::weekday(day).c_encoding());
  PutDigits(static_cast<int>(static_cast<unsigned>(date.day())), 2, &text[5]);
  kMonths.copy(&text[8], 3, 3 * (static_cast<unsigned>(date.month()) - 1));
  PutDigits(static_cast<int>(date.year()), 4, &text[12]);
  PutDigits(static_cast<int>(clock.hours().count()), 2, &text[17]);
  PutDigits(static_cast<int>(clock.minutes().count()), 2, &text[20]);
  PutDigits(static_cast<int>(clock.seconds().count()), 2, &text[23]);
  return text;
}

void AddSecurityHeaders(HttpResponse* response, std::string_view content_security_policy) {
  const auto add = [response](std::string_view name, std::string_view value) {
    if (!response->headers.Has(name)) response->headers.Add(name, value);
  };
  add("Content-Security-Policy", content_security_policy);
  add("X-Content-Type-Options", "nosniff");
  add("Referrer-Policy", "same-origin");
}

}  // namespace neptune

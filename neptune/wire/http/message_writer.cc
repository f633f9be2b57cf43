#include "neptune/wire/http/message_writer.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/serializer.hpp>
#include <chrono>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "neptune/base/strings.h"

namespace neptune {
namespace {

namespace http = boost::beast::http;

boost::beast::string_view View(std::string_view text) { return {text.data(), text.size()}; }

bool IsToken(std::string_view name) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::all_of(name.begin(), name.end(), [&](char c) {
    return absl::ascii_isalnum(c) || kMarks.find(c) != kMarks.npos;
  });
}

bool IsFraming(std::string_view name) {
  for (const std::string_view framing :
       {"Content-Length", "Transfer-Encoding", "Connection", "Date"}) {
    if (EqualsIgnoringCase(name, framing)) return true;
  }
  return false;
}

template <typename Message>
void CopyHeaders(const HttpHeaders& headers, Message* message) {
  for (const auto& [name, value] : headers) {
    if (IsFraming(name) || !IsToken(name)) continue;
    if (name.size() + value.size() > kHeaderLineSizeMax) continue;
    std::string clean = value;
    std::replace_if(
        clean.begin(), clean.end(), [](char c) { return absl::ascii_iscntrl(c); }, ' ');
    message->insert(View(name), View(clean));
  }
}

// Returns the message's start line and headers, with capacity reserved for `body_size` more bytes.
template <bool kIsRequest>
std::string HeaderBytes(http::message<kIsRequest, http::empty_body>& message, size_t body_size) {
  http::serializer<kIsRequest, http::empty_body> serializer(message);
  std::string bytes;
  boost::beast::error_code error;
  while (!serializer.is_done() && !error) {
    serializer.next(error, [&](boost::beast::error_code&, const auto& buffers) {
      size_t size = 0;
      for (auto it = boost::asio::buffer_sequence_begin(buffers);
           it != boost::asio::buffer_sequence_end(buffers); ++it) {
        const boost::asio::const_buffer piece = *it;
        bytes.append(static_cast<const char*>(piece.data()), piece.size());
        size += piece.size();
      }
      serializer.consume(size);
    });
  }
  bytes.reserve(bytes.size() + body_size);
  return bytes;
}

bool MayHaveBody(int status) { return status / 100 != 1 && status != 204 && status != 304; }

}  // namespace

std::string SerializeHttpResponse(const HttpResponse& response, const HttpAnswerContext& context,
                                  WallTime now) {
  http::message<false, http::empty_body> message;
  message.version(11);
  message.result(static_cast<unsigned>(std::clamp(response.status, 100, 999)));
  message.reason(View(HttpReasonPhrase(response.status)));
  message.set("Date", View(FormatHttpDate(now)));
  CopyHeaders(response.headers, &message);
  const bool body_allowed = MayHaveBody(response.status);
  if (body_allowed) {
    if (!response.body.empty() && !response.headers.Has("Content-Type")) {
      message.set("Content-Type", "application/octet-stream");
    }
    message.set("Content-Length", View(StrCat(response.body.size())));
  }
  if (!context.keep_alive) {
    message.set("Connection", "close");
  } else if (context.version < 11) {
    message.set("Connection", "keep-alive");
  }
  const bool body_sent = body_allowed && !context.head;
  std::string bytes = HeaderBytes(message, body_sent ? response.body.size() : 0);
  if (body_sent) bytes += response.body;
  return bytes;
}

std::string SerializeHttpRequest(std::string_view method, std::string_view target,
                                 std::string_view host, const HttpHeaders& headers,
                                 std::string_view body) {
  http::message<true, http::empty_body> message;
  message.version(11);
  message.method_string(View(method));
  message.target(View(target));
  message.set("Host", View(host));
  CopyHeaders(headers, &message);
  if (EqualsIgnoringCase(headers.Get("Connection"), "close")) message.set("Connection", "close");
  if (!body.empty()) message.set("Content-Length", View(StrCat(body.size())));
  std::string bytes = HeaderBytes(message, body.size());
  bytes += body;
  return bytes;
}

std::string FormatHttpDate(WallTime time) {
  using std::chrono::days;
  using std::chrono::seconds;
  constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::chrono::sys_seconds instant{
      std::chrono::floor<seconds>(std::chrono::nanoseconds(time.ns_since_1970))};
  const auto day = std::chrono::floor<days>(instant);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(instant - day);
  return absl::StrFormat(
      "%s, %02d %s %04d %02d:%02d:%02d GMT", kDays[std::chrono::weekday(day).c_encoding()],
      static_cast<unsigned>(date.day()), kMonths[static_cast<unsigned>(date.month()) - 1],
      static_cast<int>(date.year()), clock.hours().count(), clock.minutes().count(),
      clock.seconds().count());
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

#include "tools/http/http_get.h"

#include <curl/curl.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "neptune/base/strings.h"

namespace search::tools {
namespace {

using neptune::DeadlineExceeded;
using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;
using neptune::Unavailable;

// Total size of the header lines of one answer.
constexpr size_t kHeadSizeMax = 64 * 1024;

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// Collects one answer; libcurl calls the functions, which return how many bytes they accept.
class Answer {
 public:
  explicit Answer(size_t body_size_max) : body_size_max_(body_size_max) {}

  static size_t OnHeader(const char* bytes, size_t, size_t size, void* answer) {
    return static_cast<Answer*>(answer)->AddHeader(std::string_view(bytes, size)) ? size : 0;
  }
  static size_t OnBody(const char* bytes, size_t, size_t size, void* answer) {
    return static_cast<Answer*>(answer)->AddBody(std::string_view(bytes, size)) ? size : 0;
  }

  neptune::HttpResponse Release(long status) {
    response_.status = static_cast<int>(status);
    return std::move(response_);
  }

 private:
  bool AddHeader(std::string_view line) {
    head_size_ += line.size();
    if (head_size_ > kHeadSizeMax) return false;
    // The head of an interim answer (1xx) is followed by that of the final one.
    if (line.starts_with("HTTP/")) response_.headers = {};
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return true;
    response_.headers.Add(line.substr(0, colon), Trimmed(line.substr(colon + 1)));
    return true;
  }

  bool AddBody(std::string_view bytes) {
    if (bytes.size() > body_size_max_ - response_.body.size()) return false;
    response_.body += bytes;
    return true;
  }

  const size_t body_size_max_;
  size_t head_size_ = 0;
  neptune::HttpResponse response_;
};

using Transfer = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using HeaderList = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

// libcurl's process-wide state; freed by the end of the process.
bool InitialiseOnce() {
  static const bool initialised = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return initialised;
}

HeaderList MakeHeaders(const neptune::HttpHeaders& headers) {
  // No "Expect: 100-continue": the node reads bodies at once.
  curl_slist* list = curl_slist_append(nullptr, "Expect:");
  for (const auto& [name, value] : headers) {
    const std::string line = value.empty() ? StrCat(name, ";") : StrCat(name, ": ", value);
    list = curl_slist_append(list, line.c_str());
  }
  return HeaderList(list, &curl_slist_free_all);
}

Status ErrorOf(CURLcode code, const char* reason, const HttpOrigin& target,
               const HttpGetOptions& options) {
  const std::string_view said = *reason == '\0' ? curl_easy_strerror(code) : reason;
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return DeadlineExceeded(target.authority, " did not answer within ", options.timeout.count(),
                              " ms");
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_HTTP2:
      return InvalidArgument("answer of ", target.authority, ": ", said);
    case CURLE_WRITE_ERROR:
      return InvalidArgument("answer of ", target.authority, ": over ", options.body_size_max,
                             " bytes, or a head over ", kHeadSizeMax);
    case CURLE_COULDNT_RESOLVE_HOST:
      return Unavailable("cannot resolve ", target.host, ": ", said);
    case CURLE_COULDNT_CONNECT:
      return Unavailable("cannot connect to ", target.authority, ": ", said);
    default:
      return Unavailable("exchange with ", target.authority, ": ", said);
  }
}

bool IsPort(std::string_view port) {
  if (port.empty() || port.size() > 5) return false;
  if (!std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return false;
  }
  const int number = std::stoi(std::string(port));
  return number >= 1 && number <= 65535;
}

}  // namespace

StatusOr<HttpOrigin> ParseHttpOrigin(std::string_view url) {
  if (url.size() > kUrlSizeMax)
    return InvalidArgument("target: longer than ", kUrlSizeMax, " bytes");
  if (url.starts_with("https://")) {
    return InvalidArgument("target: https is not supported; use http://HOST:PORT");
  }
  std::string_view rest = url;
  if (rest.starts_with("http://")) rest.remove_prefix(7);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const auto malformed = [&] {
    return InvalidArgument("target '", url, "': must be http://HOST[:PORT]");
  };
  HttpOrigin target;
  target.authority = rest;
  const bool bracketed = rest.starts_with('[');
  const size_t host_end = bracketed ? rest.find(']') : rest.find(':');
  if (bracketed && host_end == std::string_view::npos) return malformed();
  target.host = bracketed ? rest.substr(1, host_end - 1) : rest.substr(0, host_end);
  std::string_view after =
      host_end == std::string_view::npos ? "" : rest.substr(host_end + bracketed);
  if (!after.empty()) {
    if (after[0] != ':' || !IsPort(after.substr(1))) return malformed();
    target.port = after.substr(1);
  }
  constexpr std::string_view kNotInHosts = " /?#@<>\"\\^`{|}\t\r\n";
  if (target.host.empty() || target.host.find_first_of(kNotInHosts) != std::string::npos) {
    return malformed();
  }
  target.base_url = StrCat("http://", target.authority);
  return target;
}

StatusOr<neptune::HttpResponse> HttpGet(const HttpOrigin& target, std::string_view path,
                                        const neptune::HttpHeaders& headers,
                                        const HttpGetOptions& options) {
  return HttpExchange(target, "GET", path, headers, {}, options);
}

StatusOr<neptune::HttpResponse> HttpExchange(const HttpOrigin& target, std::string_view method,
                                             std::string_view path,
                                             const neptune::HttpHeaders& headers,
                                             std::string_view body, const HttpGetOptions& options) {
  const Transfer transfer(InitialiseOnce() ? curl_easy_init() : nullptr, &curl_easy_cleanup);
  if (transfer == nullptr) return Unavailable("libcurl cannot be initialised");
  CURL* const curl = transfer.get();
  Answer answer(options.body_size_max);
  char reason[CURL_ERROR_SIZE] = "";
  const HeaderList header_list = MakeHeaders(headers);
  const std::string url = StrCat(target.base_url, path);
  const std::string method_name(method);
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http");
  curl_easy_setopt(curl, CURLOPT_PROXY, "");
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(options.timeout.count()));
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, header_list.get());
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &Answer::OnHeader);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &answer);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &Answer::OnBody);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
  if (!body.empty() || method == "POST" || method == "PUT") {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.data());
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  }
  if (method == "HEAD") curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method_name.c_str());
  const CURLcode code = curl_easy_perform(curl);
  if (code != CURLE_OK) return ErrorOf(code, reason, target, options);
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  return answer.Release(status);
}

}  // namespace search::tools

// Messages of etcd's JSON gateway: encodes requests and parses answers.
//
// Source: etcd 3.4, API v3 over HTTP with JSON (keys, values in base64; 64-bit numbers as text).
// Bytes in, values out.
// Threads: pure functions.
// Errors: kNotFound the lease is gone; kUnavailable the server failed or refused; kInvalidArgument
//   an answer that violates the protocol. An error message quotes at most kEtcdErrorSizeMax bytes
//   of an answer.
// Limits: kEtcdPageCountMax entries per answer; a value over kAnnouncementSizeMax bytes is refused,
//   the others are returned.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/wire/http/http_message.h"

namespace neptune {

inline constexpr size_t kEtcdPageCountMax = 512;
inline constexpr size_t kEtcdErrorSizeMax = 200;
// More than a JSON web token with an RSA signature.
inline constexpr size_t kEtcdTokenSizeMax = 4096;
// Holds kEtcdPageCountMax entries of the largest announcements and keys.
inline constexpr size_t kEtcdAnswerSizeMax = 2 << 20;

struct EtcdRequest {
  std::string target;
  std::string body;
};

struct EtcdPage {
  int64_t revision = 0;  // of the store
  bool more = false;     // entries follow after last_key
  std::string last_key;
  std::vector<std::string> values;
  size_t refused_count = 0;  // entries that are not base64 or too large
};

// Requests a token for the header Authorization of other requests.
EtcdRequest EtcdAuthenticateRequest(std::string_view user, std::string_view password);
EtcdRequest EtcdGrantRequest(std::chrono::seconds ttl);
EtcdRequest EtcdKeepAliveRequest(int64_t lease);
EtcdRequest EtcdPutRequest(std::string_view key, std::string_view value, int64_t lease);
// Requests the keys in [first, end) that have changed in `since_revision` or later.
EtcdRequest EtcdRangeRequest(std::string_view first, std::string_view end, int64_t since_revision);
// Returns the smallest text that is greater than all keys with the prefix. REQUIRES: the prefix
// does not end in byte 255.
std::string EtcdPrefixEnd(std::string prefix);

// Returns the token, 1 to kEtcdTokenSizeMax printable characters. No error quotes the answer.
StatusOr<std::string> ReadEtcdToken(const HttpResponse& answer);
// Returns the lease's number, above 0.
StatusOr<int64_t> ReadEtcdGrant(const HttpResponse& answer);
Status ReadEtcdKeepAlive(const HttpResponse& answer);
Status ReadEtcdPut(const HttpResponse& answer);
StatusOr<EtcdPage> ReadEtcdRange(const HttpResponse& answer);

}  // namespace neptune

#include "neptune/membership/etcd_messages.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "neptune/base/foreign_json.h"
#include "neptune/base/strings.h"
#include "neptune/membership/announcement.h"

namespace neptune {
namespace {

using Json = nlohmann::json;

// An entry has six members, and is four levels deep.
constexpr JsonLimits kAnswerLimits{
    .size_max = kEtcdAnswerSizeMax, .depth_max = 16, .value_count_max = 500'000};

// Longer text cannot be base64 of an announcement, or of a key of this cluster.
constexpr size_t kEncodedSizeMax = (kAnnouncementSizeMax + 2) / 3 * 4;

std::string Encoded(std::string_view bytes) { return absl::Base64Escape(ToAbsl(bytes)); }

const Json* Member(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

std::optional<std::string> DecodedMember(const Json& object, const char* name) {
  const Json* const member = Member(object, name);
  if (member == nullptr || !member->is_string()) return std::nullopt;
  const auto& text = member->get_ref<const std::string&>();
  std::string bytes;
  if (text.size() > kEncodedSizeMax || !absl::Base64Unescape(text, &bytes)) return std::nullopt;
  return bytes;
}

// 64-bit numbers are encoded as text; zero is omitted.
StatusOr<int64_t> NumberMember(const Json& object, const char* name) {
  const Json* const member = Member(object, name);
  if (member == nullptr) return 0;
  int64_t number = 0;
  if (!member->is_string() || !absl::SimpleAtoi(member->get_ref<const std::string&>(), &number) ||
      number < 0) {
    return InvalidArgument("etcd answered with a ", name, " that is not a number");
  }
  return number;
}

std::string Excerpt(std::string_view text) {
  return absl::CHexEscape(ToAbsl(text.substr(0, kEtcdErrorSizeMax)));
}

StatusOr<Json> ReadAnswer(const HttpResponse& answer) {
  if (answer.status == 404) return NotFound("etcd answered 404: ", Excerpt(answer.body));
  if (answer.status != 200) {
    return Unavailable("etcd answered ", answer.status, ": ", Excerpt(answer.body));
  }
  StatusOr<Json> json = ReadForeignJson(answer.body, kAnswerLimits);
  if (!json.ok() || !json->is_object()) {
    return InvalidArgument("etcd's answer is not a JSON object: ", Excerpt(answer.body));
  }
  return json;
}

EtcdRequest Request(std::string_view target, const Json& body) {
  return {std::string(target), body.dump()};
}

}  // namespace

EtcdRequest EtcdAuthenticateRequest(std::string_view user, std::string_view password) {
  return Request("/v3/auth/authenticate", {{"name", user}, {"password", password}});
}

EtcdRequest EtcdGrantRequest(std::chrono::seconds ttl) {
  return Request("/v3/lease/grant", {{"TTL", StrCat(ttl.count())}});
}

EtcdRequest EtcdKeepAliveRequest(int64_t lease) {
  return Request("/v3/lease/keepalive", {{"ID", StrCat(lease)}});
}

EtcdRequest EtcdPutRequest(std::string_view key, std::string_view value, int64_t lease) {
  return Request("/v3/kv/put",
                 {{"key", Encoded(key)}, {"value", Encoded(value)}, {"lease", StrCat(lease)}});
}

EtcdRequest EtcdRangeRequest(std::string_view first, std::string_view end, int64_t since_revision) {
  return Request("/v3/kv/range", {{"key", Encoded(first)},
                                  {"range_end", Encoded(end)},
                                  {"limit", StrCat(kEtcdPageCountMax)},
                                  {"min_mod_revision", StrCat(since_revision)}});
}

std::string EtcdPrefixEnd(std::string prefix) {
  ++prefix.back();
  return prefix;
}

StatusOr<std::string> ReadEtcdToken(const HttpResponse& answer) {
  if (answer.status != 200) {
    return Unavailable("etcd answered ", answer.status, " to its user's name and password");
  }
  const StatusOr<Json> json = ReadForeignJson(answer.body, kAnswerLimits);
  const Json* const token = json.ok() ? Member(*json, "token") : nullptr;
  if (token == nullptr || !token->is_string()) {
    return InvalidArgument("etcd gave no token to its user");
  }
  const auto& text = token->get_ref<const std::string&>();
  const bool is_plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (text.empty() || text.size() > kEtcdTokenSizeMax || !is_plain) {
    return InvalidArgument("etcd gave its user a token that no header can carry");
  }
  return text;
}

StatusOr<int64_t> ReadEtcdGrant(const HttpResponse& answer) {
  NEPTUNE_ASSIGN_OR_RETURN(const Json json, ReadAnswer(answer));
  NEPTUNE_ASSIGN_OR_RETURN(const int64_t lease, NumberMember(json, "ID"));
  if (lease == 0) return InvalidArgument("etcd granted no lease: ", Excerpt(answer.body));
  return lease;
}

Status ReadEtcdKeepAlive(const HttpResponse& answer) {
  NEPTUNE_ASSIGN_OR_RETURN(const Json json, ReadAnswer(answer));
  const Json* const result = Member(json, "result");
  if (result == nullptr) return Unavailable("etcd renewed no lease: ", Excerpt(answer.body));
  NEPTUNE_ASSIGN_OR_RETURN(const int64_t left_seconds, NumberMember(*result, "TTL"));
  if (left_seconds == 0) return NotFound("etcd has dropped the lease");
  return OkStatus();
}

Status ReadEtcdPut(const HttpResponse& answer) { return ReadAnswer(answer).status(); }

StatusOr<EtcdPage> ReadEtcdRange(const HttpResponse& answer) {
  NEPTUNE_ASSIGN_OR_RETURN(const Json json, ReadAnswer(answer));
  EtcdPage page;
  const Json* const header = Member(json, "header");
  if (header == nullptr) return InvalidArgument("etcd answered without a header");
  NEPTUNE_ASSIGN_OR_RETURN(page.revision, NumberMember(*header, "revision"));
  const Json* const more = Member(json, "more");
  page.more = more != nullptr && more->is_boolean() && more->get<bool>();
  const Json* const entries = Member(json, "kvs");
  if (entries == nullptr) return page;
  if (!entries->is_array() || entries->size() > kEtcdPageCountMax) {
    return InvalidArgument("etcd's entries are not a list of at most ", kEtcdPageCountMax);
  }
  for (const Json& entry : *entries) {
    if (std::optional<std::string> key = DecodedMember(entry, "key")) {
      page.last_key = *std::move(key);
    }
    std::optional<std::string> value = DecodedMember(entry, "value");
    if (value && value->size() <= kAnnouncementSizeMax) {
      page.values.push_back(*std::move(value));
    } else {
      ++page.refused_count;
    }
  }
  return page;
}

}  // namespace neptune

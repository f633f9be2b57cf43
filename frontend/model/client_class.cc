#include "frontend/model/client_class.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "neptune/base/same_secret.h"
#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using neptune::ClassNumber;
using neptune::StatusOr;

constexpr std::string_view kApiKeyHeader = "X-Api-Key";
// Names the service class of the request, for example one for batch queries.
constexpr std::string_view kServiceClassHeader = "Neptune-Service-Class";

bool IsName(std::string_view text) {
  return text.size() <= neptune::kServiceClassNameSizeMax &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_';
         });
}

}  // namespace

ClientClasses::ClientClasses(neptune::SchedulerOptions scheduling,
                             std::map<std::string, std::string> class_of_api_key_hash,
                             Options options)
    : scheduling_(std::move(scheduling)),
      class_of_api_key_hash_(std::move(class_of_api_key_hash)),
      options_(options) {}

StatusOr<ClientClass> ClientClasses::Of(const neptune::HttpRequest& request) const {
  return Of(request.headers.Get(kApiKeyHeader), request.headers.Get(kServiceClassHeader));
}

StatusOr<ClientClass> ClientClasses::Of(std::string_view key, std::string_view name) const {
  if (!key.empty()) {
    const auto found = class_of_api_key_hash_.find(neptune::ApiKeyHash(key));
    if (found == class_of_api_key_hash_.end()) {
      return absl::UnauthenticatedError(
          neptune::StrCat("header ", kApiKeyHeader, ": unknown API key"));
    }
    return ClientClass{*neptune::FindClass(scheduling_, found->second), found->second};
  }
  if (options_.requires_key) {
    return absl::UnauthenticatedError(
        neptune::StrCat("header ", kApiKeyHeader, ": missing; this service requires an API key"));
  }
  if (!IsName(name)) {
    return neptune::InvalidArgument("header ", kServiceClassHeader, ": at most ",
                                    neptune::kServiceClassNameSizeMax,
                                    " letters, digits, '-' and '_'");
  }
  const std::optional<ClassNumber> named = neptune::FindClass(scheduling_, name);
  if (!named) return ClientClass{scheduling_.default_class, std::string(name)};
  const bool has_keys = std::any_of(class_of_api_key_hash_.begin(), class_of_api_key_hash_.end(),
                                    [&](const auto& entry) { return entry.second == name; });
  if (has_keys && !options_.trusts_header) {
    return absl::PermissionDeniedError(
        neptune::StrCat("header ", kServiceClassHeader, ": class ", name, " requires an API key"));
  }
  return ClientClass{*named, std::string(name)};
}

neptune::Status CheckDemonstrationKeys(
    const std::map<std::string, std::string>& class_of_api_key_hash) {
  for (const char* const key : {"gold-demo-key", "silver-demo-key"}) {
    const auto found = class_of_api_key_hash.find(neptune::ApiKeyHash(key));
    if (found == class_of_api_key_hash.end()) continue;
    return neptune::FailedPrecondition(
        "service class '", found->second, "' has the demonstration key '", key,
        "', which is for frontends that only this machine reaches; make one of your own");
  }
  return neptune::OkStatus();
}

}  // namespace search::frontend

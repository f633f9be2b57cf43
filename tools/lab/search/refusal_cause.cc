#include "tools/lab/search/refusal_cause.h"

#include <nlohmann/json.hpp>

#include "neptune/base/strings.h"

namespace search::lab {
namespace {

using nlohmann::json;

std::string TextOf(const json& document, const char* name) {
  const auto found = document.find(name);
  return found != document.end() && found->is_string() ? found->get<std::string>() : "";
}

bool IsDigit(char byte) { return byte >= '0' && byte <= '9'; }

std::string WithoutNumbers(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!IsDigit(text[i])) plain += text[i];
    if (IsDigit(text[i]) && (i == 0 || !IsDigit(text[i - 1]))) plain += '#';
  }
  return plain;
}

}  // namespace

std::string RefusalCause(int status, std::string_view body) {
  const json document = json::parse(body, nullptr, /*allow_exceptions=*/false);
  std::string said;
  if (document.is_object()) {
    said = TextOf(document, "detail");
    if (said.empty()) said = TextOf(document, "title");
  }
  std::string cause = neptune::StrCat(status, said.empty() ? "" : " ", WithoutNumbers(said));
  if (cause.size() > kRefusalCauseSizeMax) cause.resize(kRefusalCauseSizeMax);
  return cause;
}

}  // namespace search::lab

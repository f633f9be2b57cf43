#include "tools/deploy/yaml_text.h"

namespace search::tools {
namespace {

using Json = nlohmann::ordered_json;

bool IsBlock(const Json& value) { return value.is_structured() && !value.empty(); }

void AppendBlock(const Json& value, const std::string& indent, std::string* text);

// Written after "KEY:" or "-".
void AppendValue(const Json& value, const std::string& indent, std::string* text) {
  if (IsBlock(value)) {
    *text += '\n';
    AppendBlock(value, indent + "  ", text);
  } else {
    *text += ' ' + value.dump() + '\n';
  }
}

void AppendBlock(const Json& value, const std::string& indent, std::string* text) {
  for (const auto& [key, member] : value.items()) {
    *text += indent + (value.is_array() ? "-" : Json(key).dump() + ":");
    AppendValue(member, indent, text);
  }
}

}  // namespace

std::string YamlText(const std::vector<Json>& documents) {
  std::string text;
  for (const Json& document : documents) {
    text += "---\n";
    AppendBlock(document, "", &text);
  }
  return text;
}

}  // namespace search::tools

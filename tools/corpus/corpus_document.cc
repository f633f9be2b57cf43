#include "tools/corpus/corpus_document.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace search::tools {

using Json = nlohmann::ordered_json;

void AppendJsonLine(const CorpusDocument& document, std::string* out) {
  auto anchors = Json::array();
  for (const Anchor& anchor : document.anchors) {
    anchors.push_back({{"target", anchor.target}, {"text", anchor.text}});
  }
  Json line = {{"url", document.url},          {"title", document.title},
               {"site", document.site},        {"headings", document.headings},
               {"text", document.text},        {"links", document.links},
               {"anchors", std::move(anchors)}};
  if (!document.language.empty()) line["lang"] = document.language;
  if (!document.date.empty()) line["date"] = document.date;
  if (!document.public_url.empty()) line["public_url"] = document.public_url;
  if (!document.structure.empty()) line["structure"] = document.structure;
  *out += line.dump(-1, ' ', false, Json::error_handler_t::replace);
  *out += '\n';
}

}  // namespace search::tools

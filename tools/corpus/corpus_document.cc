#include "tools/corpus/corpus_document.h"

#include <cstdio>

namespace search::tools {
namespace {

void AppendField(std::string_view name, std::string_view value, std::string* out) {
  AppendJsonString(name, out);
  *out += ':';
  AppendJsonString(value, out);
}

void AppendList(std::string_view name, const std::vector<std::string>& values, std::string* out) {
  AppendJsonString(name, out);
  *out += ":[";
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) *out += ',';
    AppendJsonString(values[i], out);
  }
  *out += ']';
}

}  // namespace

void AppendJsonString(std::string_view text, std::string* out) {
  *out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      *out += '\\';
      *out += c;
    } else if (c == '\n') {
      *out += "\\n";
    } else if (c == '\t') {
      *out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      snprintf(code, sizeof(code), "\\u%04x", static_cast<unsigned char>(c));
      *out += code;
    } else {
      *out += c;
    }
  }
  *out += '"';
}

void AppendJsonLine(const CorpusDocument& document, std::string* out) {
  *out += '{';
  AppendField("url", document.url, out);
  *out += ',';
  AppendField("title", document.title, out);
  *out += ',';
  AppendField("site", document.site, out);
  *out += ',';
  AppendList("headings", document.headings, out);
  *out += ',';
  AppendField("text", document.text, out);
  *out += ',';
  AppendList("links", document.links, out);
  *out += ",\"anchors\":[";
  for (size_t i = 0; i < document.anchors.size(); ++i) {
    if (i > 0) *out += ',';
    *out += '{';
    AppendField("target", document.anchors[i].target, out);
    *out += ',';
    AppendField("text", document.anchors[i].text, out);
    *out += '}';
  }
  *out += "]}\n";
}

}  // namespace search::tools

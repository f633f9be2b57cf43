#include "tools/corpus/json_lines.h"

#include <simdjson.h>

#include <utility>

#include "index/html/document_structure.h"
#include "index/html/utf8.h"
#include "neptune/base/utf8.h"

namespace search::tools {

namespace ondemand = simdjson::ondemand;
using neptune::InvalidArgument;
using neptune::OkStatus;
using neptune::Status;
using neptune::StatusOr;

static_assert(JsonLineParser::kPadding >= simdjson::SIMDJSON_PADDING);

class JsonLineParser::Rep {
 public:
  explicit Rep(JsonLinesOptions options) : options_(std::move(options)) {}

  StatusOr<CorpusDocument> Parse(std::string_view line);

 private:
  Status ParseField(std::string_view key, ondemand::value value, CorpusDocument* document);
  Status ParseString(std::string_view key, ondemand::value value, size_t size_max,
                     std::string* out);
  Status ReadId(ondemand::value value);
  Status ParseStrings(std::string_view key, ondemand::value value, size_t count_max,
                      size_t size_max, std::vector<std::string>* out);
  Status ParseAnchors(ondemand::value value, std::vector<Anchor>* out);
  Status Complete(CorpusDocument* document) const;

  Status CheckPresentation(CorpusDocument* document) const;

  const JsonLinesOptions options_;
  ondemand::parser parser_;
  std::string id_;
};

namespace {

Status Bad(std::string_view what, simdjson::error_code error) {
  return InvalidArgument(what, ": ", simdjson::error_message(error));
}

}  // namespace

// Longer than size_max is cut at a character.
Status JsonLineParser::Rep::ParseString(std::string_view key, ondemand::value value,
                                        size_t size_max, std::string* out) {
  std::string_view text;
  if (const auto error = value.get_string().get(text)) {
    return error == simdjson::INCORRECT_TYPE ? InvalidArgument("field '", key, "' is not a string")
                                             : Bad(neptune::StrCat("field '", key, "'"), error);
  }
  out->assign(neptune::TruncateUtf8(text, size_max));
  return OkStatus();
}

Status JsonLineParser::Rep::ReadId(ondemand::value value) {
  uint64_t number = 0;
  if (value.type().value_unsafe() == ondemand::json_type::number) {
    if (const auto error = value.get_uint64().get(number)) return Bad("field 'id'", error);
    id_ = std::to_string(number);
    return OkStatus();
  }
  return ParseString("id", value, CorpusLimits::kUrlSizeMax, &id_);
}

Status JsonLineParser::Rep::ParseStrings(std::string_view key, ondemand::value value,
                                         size_t count_max, size_t size_max,
                                         std::vector<std::string>* out) {
  ondemand::array list;
  if (value.get_array().get(list)) return InvalidArgument("field '", key, "' is not a list");
  for (auto element : list) {
    ondemand::value item;
    if (const auto error = element.get(item))
      return Bad(neptune::StrCat("field '", key, "'"), error);
    std::string text;
    NEPTUNE_RETURN_IF_ERROR(ParseString(key, item, size_max, &text));
    if (out->size() < count_max) out->push_back(std::move(text));
  }
  return OkStatus();
}

Status JsonLineParser::Rep::ParseAnchors(ondemand::value value, std::vector<Anchor>* out) {
  ondemand::array list;
  if (value.get_array().get(list)) return InvalidArgument("field 'anchors' is not a list");
  for (auto element : list) {
    ondemand::object object;
    if (element.get_object().get(object)) {
      return InvalidArgument("an element of 'anchors' is not an object");
    }
    Anchor anchor;
    for (auto field : object) {
      std::string_view key;
      ondemand::value item;
      if (const auto error = field.unescaped_key().get(key)) return Bad("anchors", error);
      if (const auto error = field.value().get(item)) return Bad("anchors", error);
      if (key == "target") {
        NEPTUNE_RETURN_IF_ERROR(
            ParseString("target", item, CorpusLimits::kUrlSizeMax, &anchor.target));
      } else if (key == "text") {
        NEPTUNE_RETURN_IF_ERROR(
            ParseString("text", item, CorpusLimits::kAnchorTextSizeMax, &anchor.text));
      }
    }
    if (out->size() < CorpusLimits::kLinksMax) out->push_back(std::move(anchor));
  }
  return OkStatus();
}

Status JsonLineParser::Rep::ParseField(std::string_view key, ondemand::value value,
                                       CorpusDocument* document) {
  // One byte more than allowed shows Complete that the url is too long.
  if (key == "url") {
    return ParseString(key, value, CorpusLimits::kUrlSizeMax + 1, &document->url);
  }
  if (key == "id") return ReadId(value);
  if (key == "title") {
    return ParseString(key, value, CorpusLimits::kTitleSizeMax, &document->title);
  }
  if (key == "text") return ParseString(key, value, CorpusLimits::kTextSizeMax, &document->text);
  if (key == "site") return ParseString(key, value, CorpusLimits::kSiteSizeMax, &document->site);
  // Other corpora have fields of these names with other values, which count as none. Of a time the
  // day is read.
  const bool is_text = value.type().value_unsafe() == ondemand::json_type::string;
  if (key == "lang" && is_text) {
    return ParseString(key, value, CorpusLimits::kLanguageSizeMax, &document->language);
  }
  if (key == "date" && is_text) {
    return ParseString(key, value, CorpusLimits::kDateSizeMax, &document->date);
  }
  if (key == "headings") {
    return ParseStrings(key, value, CorpusLimits::kHeadingsMax, CorpusLimits::kTitleSizeMax,
                        &document->headings);
  }
  if (key == "links") {
    return ParseStrings(key, value, CorpusLimits::kLinksMax, CorpusLimits::kUrlSizeMax,
                        &document->links);
  }
  if (key == "anchors") return ParseAnchors(value, &document->anchors);
  if (key == "public_url" && is_text) {
    return ParseString(key, value, CorpusLimits::kUrlSizeMax + 1, &document->public_url);
  }
  if (key == "structure" && is_text) {
    return ParseString(key, value, html::StructureLimits::kSizeMax + 1, &document->structure);
  }
  return OkStatus();
}

// Checks what is only shown: the address on the Web and the structure of the text.
Status JsonLineParser::Rep::CheckPresentation(CorpusDocument* document) const {
  const std::string& address = document->public_url;
  if (!address.empty() && (!html::IsWebTarget(address) || !html::IsStructureTarget(address))) {
    return InvalidArgument("field 'public_url' is not an http or https address");
  }
  // A text that may have been cut has another structure.
  if (document->text.size() + 4 > CorpusLimits::kTextSizeMax) document->structure.clear();
  const auto structure = html::ParseStructure(document->structure, document->text);
  return structure.ok() ? OkStatus() : neptune::Annotate(structure.status(), "field 'structure'");
}

Status JsonLineParser::Rep::Complete(CorpusDocument* document) const {
  if (document->url.empty() && id_.empty()) return InvalidArgument("neither 'url' nor 'id'");
  if (document->url.empty()) document->url = options_.id_url_prefix + id_;
  if (document->url.size() > CorpusLimits::kUrlSizeMax) {
    return InvalidArgument("url longer than ", CorpusLimits::kUrlSizeMax, " bytes");
  }
  if (document->title.empty() && document->text.empty()) {
    return InvalidArgument("neither 'title' nor 'text'");
  }
  if (document->site.empty()) document->site = options_.default_site;
  return CheckPresentation(document);
}

StatusOr<CorpusDocument> JsonLineParser::Rep::Parse(std::string_view line) {
  if (!html::IsValidUtf8(line)) return InvalidArgument("not valid UTF-8");
  ondemand::document parsed;
  const simdjson::padded_string_view padded(line, line.size() + kPadding);
  if (const auto error = parser_.iterate(padded).get(parsed)) return Bad("not JSON", error);
  ondemand::object object;
  if (const auto error = parsed.get_object().get(object)) return Bad("not a JSON object", error);
  CorpusDocument document;
  id_.clear();
  for (auto field : object) {
    std::string_view key;
    ondemand::value value;
    if (const auto error = field.unescaped_key().get(key)) return Bad("not JSON", error);
    const std::string name(key);
    if (const auto error = field.value().get(value)) return Bad("not JSON", error);
    NEPTUNE_RETURN_IF_ERROR(ParseField(name, value, &document));
  }
  if (parsed.current_location().error() != simdjson::OUT_OF_BOUNDS) {
    return InvalidArgument("something follows the JSON object");
  }
  NEPTUNE_RETURN_IF_ERROR(Complete(&document));
  return document;
}

JsonLineParser::JsonLineParser(JsonLinesOptions options)
    : rep_(std::make_unique<Rep>(std::move(options))) {}
JsonLineParser::~JsonLineParser() = default;

StatusOr<CorpusDocument> JsonLineParser::Parse(std::string_view line) { return rep_->Parse(line); }

}  // namespace search::tools

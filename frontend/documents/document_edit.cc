#include "frontend/documents/document_edit.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "index/updates/document_change.h"
#include "neptune/base/foreign_json.h"
#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;
using nlohmann::json;

// A document has a dozen members, none of them an array or an object.
constexpr neptune::JsonLimits kEditLimits{
    .size_max = kEditSizeMax, .depth_max = 8, .value_count_max = 100};

StatusOr<json> ParseObject(std::string_view text) {
  if (text.size() > kEditSizeMax) {
    return InvalidArgument("a document of ", text.size(), " bytes, more than ", kEditSizeMax);
  }
  NEPTUNE_ASSIGN_OR_RETURN(json value, neptune::ReadForeignJson(text, kEditLimits));
  if (!value.is_object()) return InvalidArgument("not a JSON object");
  return value;
}

Status ParseText(const std::string& name, const json& value, std::string* text) {
  if (!value.is_string()) return InvalidArgument("member ", name, ": not a string");
  *text = value.get<std::string>();
  return neptune::OkStatus();
}

StatusOr<uint64_t> ParseId(const std::string& name, const json& value) {
  if (value.is_number_unsigned()) return value.get<uint64_t>();
  if (!value.is_string()) return InvalidArgument("member ", name, ": not a document's number");
  return ParseDocumentId("member " + name, value.get_ref<const std::string&>());
}

// Host of the url, without user and port.
std::string_view HostOf(std::string_view url) {
  const size_t begin = url.find("//");
  if (begin == std::string_view::npos) return {};
  std::string_view host = url.substr(begin + 2);
  host = host.substr(0, host.find_first_of("/?#"));
  if (const size_t user = host.rfind('@'); user != std::string_view::npos) {
    host.remove_prefix(user + 1);
  }
  host = host.substr(0, host.rfind(':'));
  return host.substr(0, index::kSiteSizeMax);
}

Status ParseHtml(const json& value, std::optional<std::string>* html) {
  NEPTUNE_RETURN_IF_ERROR(ParseText("html", value, &html->emplace()));
  if ((*html)->size() <= kEditHtmlSizeMax) return neptune::OkStatus();
  return InvalidArgument("member html: ", (*html)->size(), " bytes, more than ", kEditHtmlSizeMax);
}

struct Members {
  index::DocumentContent content;
  std::optional<uint64_t> id;
  std::optional<std::string> html;
};

Status ParseMember(const std::string& name, const json& value, Members* members) {
  index::DocumentContent* const content = &members->content;
  if (name == "url") return ParseText(name, value, content->mutable_url());
  if (name == "title") return ParseText(name, value, content->mutable_title());
  if (name == "text") return ParseText(name, value, content->mutable_text());
  if (name == "site") return ParseText(name, value, content->mutable_site());
  if (name == "date") return ParseText(name, value, content->mutable_date());
  if (name == "lang") return ParseText(name, value, content->mutable_language());
  if (name == "static_rank") {
    if (!value.is_number()) return InvalidArgument("member static_rank: not a number");
    content->set_static_rank(value.get<float>());
    return neptune::OkStatus();
  }
  if (name == "html") return ParseHtml(value, &members->html);
  if (name != "id") return InvalidArgument("unknown member ", name);
  NEPTUNE_ASSIGN_OR_RETURN(members->id, ParseId(name, value));
  return neptune::OkStatus();
}

StatusOr<DocumentEdit> ReadDocument(const json& object) {
  Members members;
  for (const auto& [name, value] : object.items()) {
    NEPTUNE_RETURN_IF_ERROR(ParseMember(name, value, &members));
  }
  if (members.html.has_value() && object.contains("text")) {
    return InvalidArgument("members html and text exclude each other");
  }
  auto& [content, id, html] = members;
  if (content.url().empty()) return InvalidArgument("member url: missing");
  if (content.site().empty()) content.set_site(std::string(HostOf(content.url())));
  index::DocumentChange change;
  change.set_doc_id(id.value_or(index::DocIdOfUrl(content.url())));
  *change.mutable_upsert() = std::move(content);
  NEPTUNE_RETURN_IF_ERROR(index::CheckDocumentChange(change));
  DocumentEdit edit{.doc_id = change.doc_id(), .content = std::move(*change.mutable_upsert())};
  if (!id.has_value()) edit.url = edit.content->url();
  edit.html = std::move(html);
  return edit;
}

StatusOr<DocumentEdit> ParseLine(std::string_view line) {
  NEPTUNE_ASSIGN_OR_RETURN(const json object, ParseObject(line));
  const bool by_url = object.contains("delete_url");
  const std::string name = by_url ? "delete_url" : "delete";
  const auto removed = object.find(name);
  if (removed == object.end()) return ReadDocument(object);
  if (object.size() > 1) return InvalidArgument("member ", name, ": must be the only member");
  if (by_url) {
    std::string url;
    NEPTUNE_RETURN_IF_ERROR(ParseText(name, *removed, &url));
    return RemovalOfUrl(url);
  }
  NEPTUNE_ASSIGN_OR_RETURN(const uint64_t doc_id, ParseId(name, *removed));
  return DocumentEdit{.doc_id = doc_id, .content = std::nullopt};
}

}  // namespace

StatusOr<DocumentEdit> RemovalOfUrl(std::string_view url) {
  if (url.empty()) return InvalidArgument("a document to remove has no url");
  if (url.size() > index::kUrlSizeMax) {
    return InvalidArgument("a url of ", url.size(), " bytes, more than ", index::kUrlSizeMax);
  }
  return DocumentEdit{
      .doc_id = index::DocIdOfUrl(url), .url = std::string(url), .content = std::nullopt};
}

StatusOr<uint64_t> ParseDocumentId(std::string_view name, std::string_view text) {
  uint64_t id = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error == std::errc() && stop == text.data() + text.size()) return id;
  return InvalidArgument(name, ": not a document's number");
}

StatusOr<DocumentEdit> ParseDocument(std::string_view text) {
  NEPTUNE_ASSIGN_OR_RETURN(const json object, ParseObject(text));
  return ReadDocument(object);
}

StatusOr<std::vector<BulkLine>> ParseBulk(std::string_view body) {
  if (body.size() > kBulkSizeMax) {
    return InvalidArgument("a body of ", body.size(), " bytes, more than ", kBulkSizeMax);
  }
  std::vector<BulkLine> lines;
  for (size_t number = 1; !body.empty(); ++number) {
    const std::string_view line = body.substr(0, body.find('\n'));
    body.remove_prefix(std::min(body.size(), line.size() + 1));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (lines.size() == kEditsMax) {
      return neptune::ResourceExhausted("more than ", kEditsMax, " documents in one request");
    }
    lines.push_back({number, ParseLine(line)});
  }
  return lines;
}

}  // namespace search::frontend

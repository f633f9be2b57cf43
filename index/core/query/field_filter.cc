#include "index/core/query/field_filter.h"

#include <string>

#include "index/core/document_fields.h"
#include "neptune/base/strings.h"

namespace search::index {
namespace {

QueryNode FilterNode(std::string_view name, std::string_view value) {
  QueryNode node;
  node.kind = QueryNode::Kind::kField;
  node.term = neptune::StrCat(name, ":", value);
  node.folded = node.term;
  node.surface = node.term;
  return node;
}

}  // namespace

std::vector<QueryNode> FieldFilters(std::string_view name, std::string_view text) {
  std::vector<QueryNode> filters;
  if (name == kUrlField) {
    for (const std::string& word : AddressWords(text)) filters.push_back(FilterNode(name, word));
  } else if (name == kLanguageField) {
    const std::string tag = FoldedLanguage(text);
    if (!tag.empty()) filters.push_back(FilterNode(name, tag));
  } else if (ParseDate(text).has_value()) {
    filters.push_back(FilterNode(name, text));
  }
  return filters;
}

std::string_view FilterAdvice(std::string_view name) {
  if (name == kUrlField) return "url: takes words of an address, as url:docs/library.";
  if (name == kLanguageField) return "lang: takes a language tag, as lang:en or lang:pt-BR.";
  return "before: and after: take a date, as 2024, 2024-03 or 2024-03-05.";
}

}  // namespace search::index

#include "frontend/documents/html_content.h"

#include <optional>
#include <string>
#include <utility>

#include "index/html/document_structure.h"
#include "index/html/html_reader.h"
#include "index/updates/document_change.h"

namespace search::frontend {

neptune::Status ReadHtmlContent(DocumentEdit* edit) {
  if (!edit->html.has_value()) return neptune::OkStatus();
  auto page = html::ReadHtml(*edit->html, {}, kPostedHtmlMemoryMax);
  if (!page.ok()) return neptune::Annotate(page.status(), "member html");
  if (page->is_cut) {
    return neptune::InvalidArgument("member html: too large or too deeply nested");
  }
  edit->html.reset();
  index::DocumentChange change;
  change.set_doc_id(edit->doc_id);
  index::DocumentContent& content = *change.mutable_upsert();
  content = *std::move(edit->content);
  content.set_text(std::move(page->text));
  html::ResolveTargets(
      [](const std::string& target) {
        return html::IsWebTarget(target) ? std::optional<std::string>(target) : std::nullopt;
      },
      &page->structure);
  content.set_structure(html::EncodeStructure(page->structure));
  if (content.title().empty()) content.set_title(std::move(page->title));
  NEPTUNE_RETURN_IF_ERROR(index::CheckDocumentChange(change));
  edit->content = std::move(content);
  return neptune::OkStatus();
}

}  // namespace search::frontend

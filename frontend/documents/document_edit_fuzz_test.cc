// Any bulk body is rejected as a whole, or each line is rejected or a change within the limits.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "frontend/documents/document_edit.h"
#include "frontend/documents/html_content.h"
#include "index/updates/document_change.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace frontend = search::frontend;
  namespace index = search::index;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)frontend::ParseDocument(text);
  const auto lines = frontend::ParseBulk(text);
  if (!lines.ok()) return 0;
  CHECK_LE(lines->size(), frontend::kEditsMax);
  for (const frontend::BulkLine& line : *lines) {
    if (!line.edit.ok() || !line.edit->content.has_value()) continue;
    frontend::DocumentEdit edit = *line.edit;
    if (!frontend::ReadHtmlContent(&edit).ok()) continue;
    index::DocumentChange change;
    change.set_doc_id(edit.doc_id);
    *change.mutable_upsert() = *edit.content;
    CHECK(index::CheckDocumentChange(change).ok());
  }
  return 0;
}

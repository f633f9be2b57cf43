// The text and title of documents that came as HTML pages.
//
// Pure.
// Threads: pure function; several at once.
// Errors: INVALID_ARGUMENT that names the member: a page that cannot be read whole within the limits of index/html, or
//   whose text is over those of index/updates/document_change.h; RESOURCE_EXHAUSTED its parser needs more memory than
//   kPostedHtmlMemoryMax.
// Limits: under a second of processor time a page, as index/html/html_outline.h bounds it.

#pragma once

#include <cstddef>

#include "frontend/documents/document_edit.h"
#include "neptune/base/status.h"

namespace search::frontend {

inline constexpr size_t kPostedHtmlMemoryMax = size_t{128} << 20;

// Nothing for an edit without a page.
neptune::Status ReadHtmlContent(DocumentEdit* edit);

}  // namespace search::frontend

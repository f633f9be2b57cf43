// Extracts text, its structure and title of documents that were posted as HTML pages. Of their
// links those to http and https addresses are kept.
//
// Threads: pure function.
// Errors: INVALID_ARGUMENT names the member: the page exceeds the limits of index/html, or its text
//   those of index/updates/document_change.h; RESOURCE_EXHAUSTED parsing needs more memory than
//   kPostedHtmlMemoryMax.
// Limits: under a second of processor time per page, as bounded by index/html/html_outline.h.

#pragma once

#include <cstddef>

#include "frontend/documents/document_edit.h"
#include "neptune/base/status.h"

namespace search::frontend {

inline constexpr size_t kPostedHtmlMemoryMax = size_t{128} << 20;

// Does nothing for an edit without a page.
neptune::Status ReadHtmlContent(DocumentEdit* edit);

}  // namespace search::frontend

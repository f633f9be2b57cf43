// The style sheet and the icon of the pages, under paths that contain a hash of their content, and
// the script that is embedded in every page.
//
// Threads: immutable.

#pragma once

#include <span>
#include <string_view>

#include "frontend/render/markup/markup_writer.h"
#include "frontend/render/render.h"

namespace search::frontend {

std::string_view StyleSheetPath();
// The only script, as an element to be written into pages, and its text. The content security
// policy allows it by its hash, so that no other script runs.
TrustedMarkup CompletionScript();
std::string_view CompletionScriptText();
std::string_view IconPath();

}  // namespace search::frontend

// The style sheet and the icon of the pages, under paths that change with their content.
//
// Source: none. Layer: frontend, render. Threads: immutable.

#pragma once

#include <span>
#include <string_view>

#include "frontend/render/render.h"

namespace search::frontend {

std::string_view StyleSheetPath();
std::string_view IconPath();

}  // namespace search::frontend

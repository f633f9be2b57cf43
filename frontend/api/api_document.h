// The description of the frontend's HTTP interface for programs, openapi.json, as it is served.
//
// Source: OpenAPI Specification 3.1.0.
// Threads: immutable.

#pragma once

#include "frontend/render/render.h"

namespace search::frontend {

// Served at /openapi.json; its content is that file of this folder, byte by byte.
StaticFile ApiDocument();

}  // namespace search::frontend

// A span as a line of OTLP in JSON, as collectors of OpenTelemetry take it from files.
//
//   {"resourceSpans":[{"resource":{"attributes":[{"key":"service.instance.id",...}]},"scopeSpans":[{"spans":[{...}]}]}]}
//
// Source: OpenTelemetry protocol 1.x, JSON Protobuf encoding: identities in hexadecimal, 64-bit numbers as text.
// Threads: a pure function.

#pragma once

#include <string>
#include <string_view>

#include "neptune/service/span_log.h"

namespace neptune {

// Without a line break. `node`: that recorded it.
std::string OtlpLine(const Span& span, std::string_view node);

}  // namespace neptune

// Formats a span as a line of OTLP JSON, the file format that OpenTelemetry collectors read.
//
//   {"resourceSpans":[{"resource":{"attributes":[{"key":"service.instance.id",...}]},
//                      "scopeSpans":[{"spans":[{...}]}]}]}
//
// Source: OpenTelemetry protocol 1.x, JSON Protobuf encoding: identities in hexadecimal, 64-bit
//   numbers as text.
// Threads: a pure function.

#pragma once

#include <string>
#include <string_view>

#include "neptune/service/span_log.h"

namespace neptune {

// Returns the line without a line break. `node` is the node that recorded the span.
std::string OtlpLine(const Span& span, std::string_view node);

}  // namespace neptune

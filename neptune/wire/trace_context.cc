#include "neptune/wire/trace_context.h"

#include <charconv>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

constexpr size_t kTraceparentSize = 55;
constexpr uint8_t kSampledFlag = 1;

// The standard forbids upper-case digits, but from_chars accepts them.
bool IsLowerHex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

uint64_t Hex(std::string_view digits) {
  uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return value;
}

void AppendHex(uint64_t value, int digit_count, std::string* out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (int shift = 4 * (digit_count - 1); shift >= 0; shift -= 4) {
    *out += kDigits[(value >> shift) & 0xf];
  }
}

uint64_t NotZero(RandomSource& random) {
  uint64_t value = 0;
  while (value == 0) value = random.Next();
  return value;
}

Status NoTraceparent(std::string_view text) {
  return InvalidArgument("'", text.substr(0, kTraceparentSize), "' is not a traceparent");
}

}  // namespace

StatusOr<TraceContext> ParseTraceparent(std::string_view text) {
  if (text.size() < kTraceparentSize) return NoTraceparent(text);
  const std::string_view version = text.substr(0, 2);
  const std::string_view trace = text.substr(3, 32);
  const std::string_view span = text.substr(36, 16);
  const std::string_view flags = text.substr(53, 2);
  for (const std::string_view field : {version, trace, span, flags}) {
    if (!IsLowerHex(field)) return NoTraceparent(text);
  }
  if (text[2] != '-' || text[35] != '-' || text[52] != '-' || version == "ff") {
    return NoTraceparent(text);
  }
  if (text.size() > kTraceparentSize && (version == "00" || text[kTraceparentSize] != '-')) {
    return NoTraceparent(text);
  }
  const TraceContext context{Hex(trace.substr(0, 16)), Hex(trace.substr(16)), Hex(span),
                             (Hex(flags) & kSampledFlag) != 0};
  if (!context.present() || context.span == 0) return NoTraceparent(text);
  return context;
}

std::string FormatTraceparent(const TraceContext& trace) {
  std::string text;
  text.reserve(kTraceparentSize);
  AppendTraceparent(trace, &text);
  return text;
}

void AppendTraceparent(const TraceContext& trace, std::string* out) {
  *out += "00-";
  AppendHex(trace.trace_high, 16, out);
  AppendHex(trace.trace_low, 16, out);
  *out += '-';
  AppendHex(trace.span, 16, out);
  *out += '-';
  AppendHex(trace.sampled ? kSampledFlag : 0, 2, out);
}

std::string TraceIdText(const TraceContext& trace) {
  std::string text;
  AppendHex(trace.trace_high, 16, &text);
  AppendHex(trace.trace_low, 16, &text);
  return text;
}

TraceContext NewTrace(RandomSource& random, bool sampled) {
  return {random.Next(), NotZero(random), NotZero(random), sampled};
}

TraceContext ChildOf(const TraceContext& parent, RandomSource& random) {
  TraceContext child = parent;
  child.span = NotZero(random);
  return child;
}

}  // namespace neptune

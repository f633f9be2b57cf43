#include "neptune/wire/trace_context.h"

#include <charconv>

#include "absl/strings/str_format.h"
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

uint64_t NotZero(RandomSource& random) {
  uint64_t value = 0;
  while (value == 0) value = random.Next();
  return value;
}

}  // namespace

StatusOr<TraceContext> ParseTraceparent(std::string_view text) {
  const Status error =
      InvalidArgument("'", text.substr(0, kTraceparentSize), "' is not a traceparent");
  if (text.size() < kTraceparentSize) return error;
  const std::string_view version = text.substr(0, 2);
  const std::string_view trace = text.substr(3, 32);
  const std::string_view span = text.substr(36, 16);
  const std::string_view flags = text.substr(53, 2);
  for (const std::string_view field : {version, trace, span, flags}) {
    if (!IsLowerHex(field)) return error;
  }
  if (text[2] != '-' || text[35] != '-' || text[52] != '-' || version == "ff") return error;
  if (text.size() > kTraceparentSize && (version == "00" || text[kTraceparentSize] != '-')) {
    return error;
  }
  const TraceContext context{Hex(trace.substr(0, 16)), Hex(trace.substr(16)), Hex(span),
                             (Hex(flags) & kSampledFlag) != 0};
  if (!context.present() || context.span == 0) return error;
  return context;
}

std::string FormatTraceparent(const TraceContext& trace) {
  return absl::StrFormat("00-%s-%016x-%02x", TraceIdText(trace), trace.span,
                         trace.sampled ? kSampledFlag : 0);
}

std::string TraceIdText(const TraceContext& trace) {
  return absl::StrFormat("%016x%016x", trace.trace_high, trace.trace_low);
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

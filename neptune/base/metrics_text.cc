#include "neptune/base/metrics_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "neptune/base/utf8.h"

namespace neptune::metrics_text {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Quotes are escaped in label values but not in help texts.
std::string Escaped(std::string_view text, bool escape_quotes) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\\' || (c == '"' && escape_quotes)) {
      out += '\\';
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string NumberText(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char text[32];  // the longest shortest representation of a double has 24 characters
  const auto result = std::to_chars(text, text + sizeof(text), value);
  return std::string(text, result.ptr);
}

// Twelve digits, so that 20000 units of 1e-9 print as 2e-05 and not 2.0000000000000003e-05.
std::string BoundText(double bound) {
  char text[32];
  const auto result =
      std::to_chars(text, text + sizeof(text), bound, std::chars_format::general, 12);
  return std::string(text, result.ptr);
}

void AppendLine(std::string_view name, std::string_view labels, std::string_view value,
                std::string* out) {
  if (labels.empty()) {
    StrAppend(out, name, " ", value, "\n");
  } else {
    StrAppend(out, name, "{", labels, "} ", value, "\n");
  }
}

Status CheckLabels(const MetricLabels& labels) {
  if (labels.size() > kLabelCountMax) {
    return InvalidArgument(labels.size(), " labels, limit ", kLabelCountMax);
  }
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto& [name, value] = labels[i];
    if (!IsLabelName(name)) return InvalidArgument("bad label name \"", name, "\"");
    if (i > 0 && name == labels[i - 1].first) return InvalidArgument("label ", name, " twice");
    if (value.size() > kLabelSizeMax) {
      return InvalidArgument("label ", name, " has ", value.size(), " bytes, limit ",
                             kLabelSizeMax);
    }
    if (!IsUtf8(value)) return InvalidArgument("label ", name, " is not UTF-8");
  }
  return OkStatus();
}

}  // namespace

bool IsMetricName(std::string_view name) {
  if (name.empty() || IsDigit(name[0])) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return IsLetter(c) || IsDigit(c) || c == ':'; });
}

bool IsLabelName(std::string_view name) {
  if (name.empty() || IsDigit(name[0]) || name.starts_with("__")) return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return IsLetter(c) || IsDigit(c); });
}

StatusOr<std::string> LabelText(MetricLabels labels) {
  std::sort(labels.begin(), labels.end());
  NEPTUNE_RETURN_IF_ERROR(CheckLabels(labels));
  std::string text;
  for (const auto& [name, value] : labels) {
    StrAppend(&text, text.empty() ? "" : ",", name, "=\"", Escaped(value, true), "\"");
  }
  return text;
}

void AppendHead(std::string_view name, std::string_view help, std::string_view type,
                std::string* out) {
  StrAppend(out, "# HELP ", name, " ", Escaped(help, false), "\n");
  StrAppend(out, "# TYPE ", name, " ", type, "\n");
}

void AppendSample(std::string_view name, std::string_view labels, uint64_t value,
                  std::string* out) {
  AppendLine(name, labels, StrCat(value), out);
}

void AppendSample(std::string_view name, std::string_view labels, double value, std::string* out) {
  AppendLine(name, labels, NumberText(value), out);
}

void AppendHistogram(std::string_view name, std::string_view labels, const Histogram& histogram,
                     const HistogramMetricOptions& options, std::string* out) {
  const std::string bucket_name = StrCat(name, "_bucket");
  const std::string prefix = StrCat(labels, labels.empty() ? "" : ",", "le=\"");
  for (const uint64_t bound : options.bounds) {
    const std::string bound_text = BoundText(static_cast<double>(bound) * options.unit);
    AppendSample(bucket_name, StrCat(prefix, bound_text, "\""), histogram.CountAtMost(bound), out);
  }
  AppendSample(bucket_name, StrCat(prefix, "+Inf\""), histogram.count(), out);
  const double sum = static_cast<double>(histogram.sum()) * options.unit;
  AppendSample(StrCat(name, "_sum"), labels, sum, out);
  AppendSample(StrCat(name, "_count"), labels, histogram.count(), out);
}

}  // namespace neptune::metrics_text

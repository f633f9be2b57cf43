#include "frontend/model/search_request.h"

#include <array>
#include <charconv>
#include <chrono>
#include <optional>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/base/utf8.h"

namespace search::frontend {
namespace {

using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;
using Limits = SearchRequestLimits;

// The one value of the parameter `facets`.
constexpr std::string_view kSiteFacet = "site";

// The value of the parameter `sort` that is not the default.
constexpr std::string_view kSortByDate = "date";

// The value of the parameter `syntax` that is the default.
constexpr std::string_view kQuerySyntax = "query";

constexpr std::string_view kErrorPrefix = "parameter ";

constexpr std::array<std::pair<std::string_view, PageFormat>, 4> kFormats = {{
    {"html", PageFormat::kHtml},
    {"json", PageFormat::kJson},
    {"rss", PageFormat::kRss},
    {"atom", PageFormat::kAtom},
}};

template <typename... Args>
Status ParameterError(std::string_view name, const Args&... what) {
  return InvalidArgument(kErrorPrefix, name, ": ", what...);
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Decodes `text`; nullopt if a '%' is not followed by two hex digits.
std::optional<std::string> DecodeParameter(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = HexValue(text[i + 1]);
    const int low = HexValue(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

// Values of the known parameters, still encoded, in the order of their appearance.
struct RawParameters {
  std::optional<std::string_view> query, syntax, start, count, format, trace, explain, facets, sort,
      spell, relax, fold, first, timeout;

  std::optional<std::string_view>* Find(std::string_view name) {
    if (name == "q") return &query;
    if (name == "syntax") return &syntax;
    if (name == "start") return &start;
    if (name == "count") return &count;
    if (name == "format") return &format;
    if (name == "trace") return &trace;
    if (name == "explain") return &explain;
    if (name == "facets") return &facets;
    if (name == "sort") return &sort;
    if (name == "spell") return &spell;
    if (name == "relax") return &relax;
    if (name == "fold") return &fold;
    if (name == "first") return &first;
    if (name == "timeout") return &timeout;
    return nullptr;
  }
};

StatusOr<RawParameters> SplitParameters(std::string_view text) {
  if (text.size() > Limits::kParametersSizeMax) {
    return InvalidArgument("parameters: ", text.size(), " bytes, more than the limit of ",
                           Limits::kParametersSizeMax);
  }
  RawParameters raw;
  for (size_t number = 1; !text.empty(); ++number) {
    if (number > Limits::kParameterCountMax) {
      return InvalidArgument("more than ", Limits::kParameterCountMax, " parameters");
    }
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    const size_t equals = pair.find('=');
    const std::string_view name = pair.substr(0, equals);
    std::optional<std::string_view>* value = raw.Find(name);
    if (value == nullptr) continue;
    if (value->has_value()) return ParameterError(name, "given twice");
    *value = equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
  }
  return raw;
}

StatusOr<std::string> DecodeQuery(std::string_view raw) {
  std::optional<std::string> query = DecodeParameter(raw);
  if (!query) return ParameterError("q", "a '%' is not followed by two hexadecimal digits");
  if (query->size() > Limits::kQuerySizeMax) {
    return ParameterError("q", query->size(), " bytes, more than the limit of ",
                          Limits::kQuerySizeMax);
  }
  if (!neptune::IsUtf8(*query)) return ParameterError("q", "not UTF-8 text");
  if (query->find('\0') != std::string::npos) return ParameterError("q", "has a zero byte");
  return *std::move(query);
}

StatusOr<uint32_t> DecodeNumber(std::string_view name, std::string_view raw, uint32_t min,
                                uint32_t max) {
  uint32_t number = 0;
  const char* const end = raw.data() + raw.size();
  const auto [stop, error] = std::from_chars(raw.data(), end, number);
  if (error != std::errc() || stop != end || number < min || number > max) {
    return ParameterError(name, "must be a whole number from ", min, " to ", max);
  }
  return number;
}

// A number of milliseconds, or with the unit "ms" or "s".
StatusOr<std::chrono::milliseconds> DecodeTimeout(std::string_view raw) {
  const bool is_seconds = raw.ends_with('s') && !raw.ends_with("ms");
  const int64_t unit_ms = is_seconds ? 1000 : 1;
  std::string_view digits = raw;
  digits.remove_suffix(is_seconds ? 1 : raw.ends_with("ms") ? 2 : 0);
  const auto max = static_cast<uint32_t>(Limits::kTimeoutMax.count() / unit_ms);
  const StatusOr<uint32_t> number = DecodeNumber("timeout", digits, 1, max);
  if (!number.ok()) {
    return ParameterError("timeout", "must be a whole number of milliseconds from 1 to ",
                          Limits::kTimeoutMax.count(),
                          ", or one with the unit ms or s, for example 500ms or 2s");
  }
  return std::chrono::milliseconds(*number * unit_ms);
}

// How the query is read, and what may be searched for instead.
Status DecodeReading(const RawParameters& raw, SearchPageRequest* request) {
  if (raw.syntax) {
    if (*raw.syntax != kQuerySyntax && *raw.syntax != kPlainSyntax) {
      return ParameterError("syntax", "must be ", kQuerySyntax, " or ", kPlainSyntax);
    }
    request->is_plain = *raw.syntax == kPlainSyntax;
  }
  if (raw.spell) {
    NEPTUNE_ASSIGN_OR_RETURN(const uint32_t spell, DecodeNumber("spell", *raw.spell, 0, 1));
    request->may_correct = spell == 1;
  }
  if (raw.relax) {
    NEPTUNE_ASSIGN_OR_RETURN(const uint32_t relax, DecodeNumber("relax", *raw.relax, 0, 1));
    request->may_relax = relax == 1;
  }
  return neptune::OkStatus();
}

// Parts of the answer that are given if asked for.
Status DecodeDetails(const RawParameters& raw, SearchPageRequest* request) {
  if (raw.trace) {
    NEPTUNE_ASSIGN_OR_RETURN(const uint32_t trace, DecodeNumber("trace", *raw.trace, 0, 1));
    request->trace = trace == 1;
  }
  if (raw.explain) {
    NEPTUNE_ASSIGN_OR_RETURN(const uint32_t explain, DecodeNumber("explain", *raw.explain, 0, 1));
    request->explain = explain == 1;
  }
  if (raw.facets) {
    if (*raw.facets != kSiteFacet) {
      return ParameterError("facets", "must be ", kSiteFacet, ", the one field that is counted");
    }
    request->site_facets = true;
  }
  if (raw.sort) {
    if (*raw.sort != "relevance" && *raw.sort != kSortByDate) {
      return ParameterError("sort", "must be relevance or ", kSortByDate);
    }
    request->by_date = *raw.sort == kSortByDate;
  }
  if (request->explain && request->by_date) {
    return ParameterError("explain", "results that are sorted by date have no score");
  }
  return neptune::OkStatus();
}

std::optional<PageFormat> FormatNamed(std::string_view name) {
  for (const auto& [known, format] : kFormats) {
    if (name == known) return format;
  }
  return std::nullopt;
}

std::string_view TrimBlanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::optional<PageFormat> FormatOfMediaType(std::string_view type) {
  if (type == "text/html" || type == "application/xhtml+xml") return PageFormat::kHtml;
  if (type == "application/json") return PageFormat::kJson;
  if (type == "application/rss+xml") return PageFormat::kRss;
  if (type == "application/atom+xml") return PageFormat::kAtom;
  return std::nullopt;
}

// The first supported type of an Accept header. It is only a hint, so weights are ignored.
PageFormat FormatAccepted(std::string_view accept) {
  while (!accept.empty()) {
    const std::string_view item = accept.substr(0, accept.find(','));
    accept.remove_prefix(std::min(accept.size(), item.size() + 1));
    const std::string_view type = TrimBlanks(item.substr(0, item.find(';')));
    if (const auto format = FormatOfMediaType(type)) return *format;
  }
  return PageFormat::kHtml;
}

bool IsUnreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

}  // namespace

bool SearchPageRequest::has_query() const {
  return query.find_first_not_of(" \t\r\n\f\v") != std::string::npos;
}

StatusOr<SearchPageRequest> ParseSearchRequest(std::string_view parameters,
                                               std::string_view accept) {
  NEPTUNE_ASSIGN_OR_RETURN(const RawParameters raw, SplitParameters(parameters));
  SearchPageRequest request;
  request.format = FormatAccepted(accept);
  if (raw.format) {
    const std::optional<PageFormat> format = FormatNamed(*raw.format);
    if (!format) return ParameterError("format", "must be html, json, rss or atom");
    request.format = *format;
  }
  if (raw.query) {
    NEPTUNE_ASSIGN_OR_RETURN(request.query, DecodeQuery(*raw.query));
  }
  if (raw.start) {
    NEPTUNE_ASSIGN_OR_RETURN(request.start,
                             DecodeNumber("start", *raw.start, 0, Limits::kStartMax));
  }
  if (raw.count) {
    NEPTUNE_ASSIGN_OR_RETURN(request.count,
                             DecodeNumber("count", *raw.count, 1, Limits::kCountMax));
  }
  NEPTUNE_RETURN_IF_ERROR(DecodeDetails(raw, &request));
  NEPTUNE_RETURN_IF_ERROR(DecodeReading(raw, &request));
  if (raw.fold) {
    NEPTUNE_ASSIGN_OR_RETURN(const uint32_t fold, DecodeNumber("fold", *raw.fold, 0, 1));
    request.fold = fold == 1;
  }
  if (raw.first) {
    NEPTUNE_ASSIGN_OR_RETURN(request.first,
                             DecodeNumber("first", *raw.first, 0, Limits::kStartMax));
  }
  if (raw.timeout) {
    NEPTUNE_ASSIGN_OR_RETURN(request.timeout, DecodeTimeout(*raw.timeout));
  }
  if (!request.has_query() && request.format != PageFormat::kHtml) {
    return ParameterError("q", "missing; it is the query to search for");
  }
  return request;
}

PageFormat PreferredFormat(std::string_view parameters, std::string_view accept) {
  if (parameters.size() <= Limits::kParametersSizeMax) {
    for (std::string_view rest = parameters; !rest.empty();) {
      const std::string_view pair = rest.substr(0, rest.find('&'));
      rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
      if (!pair.starts_with("format=")) continue;
      if (const auto format = FormatNamed(pair.substr(7))) return *format;
    }
  }
  return FormatAccepted(accept.substr(0, Limits::kParametersSizeMax));
}

std::string SearchPath(const SearchPageRequest& request) {
  std::string path = neptune::StrCat("/search?q=", EncodeParameter(request.query));
  if (request.is_plain) neptune::StrAppend(&path, "&syntax=", kPlainSyntax);
  if (request.start != 0) neptune::StrAppend(&path, "&start=", request.start);
  if (request.count != Limits::kCountDefault) neptune::StrAppend(&path, "&count=", request.count);
  if (request.format != PageFormat::kHtml) {
    neptune::StrAppend(&path, "&format=", FormatName(request.format));
  }
  if (request.trace) neptune::StrAppend(&path, "&trace=1");
  if (request.explain) neptune::StrAppend(&path, "&explain=1");
  if (request.site_facets) neptune::StrAppend(&path, "&facets=", kSiteFacet);
  if (request.by_date) neptune::StrAppend(&path, "&sort=", kSortByDate);
  if (!request.may_correct) neptune::StrAppend(&path, "&spell=0");
  if (!request.may_relax) neptune::StrAppend(&path, "&relax=0");
  if (request.fold) neptune::StrAppend(&path, "&fold=", *request.fold ? 1 : 0);
  if (request.first != 0) neptune::StrAppend(&path, "&first=", request.first);
  if (request.timeout.count() > 0) {
    neptune::StrAppend(&path, "&timeout=", request.timeout.count());
  }
  return path;
}

std::string EncodeParameter(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size() + 8);
  for (char c : text) {
    if (IsUnreserved(c)) {
      out += c;
    } else if (c == ' ') {
      out += '+';
    } else {
      const auto byte = static_cast<uint8_t>(c);
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

std::string_view FormatName(PageFormat format) {
  for (const auto& [name, known] : kFormats) {
    if (format == known) return name;
  }
  return "html";
}

std::string_view ParameterOf(const neptune::Status& status) {
  std::string_view message = neptune::ToStd(status.message());
  if (!message.starts_with(kErrorPrefix)) return {};
  message.remove_prefix(kErrorPrefix.size());
  const std::string_view name = message.substr(0, message.find(':'));
  for (std::string_view known : {"q", "syntax", "start", "count", "format", "trace", "explain",
                                 "facets", "sort", "spell", "relax", "fold", "first", "timeout"}) {
    if (name == known) return known;
  }
  return {};
}

}  // namespace search::frontend

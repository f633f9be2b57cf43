#include "frontend/caching/page_key.h"

#include <array>
#include <optional>
#include <utility>

#include "neptune/wire/http/content_coding.h"

namespace search::frontend {
namespace {

using Field = std::string_view PageAsk::*;
constexpr std::array<std::pair<std::string_view, Field>, 8> kFields = {{
    {"Host", &PageAsk::host},
    {"Accept", &PageAsk::accept},
    {"Accept-Encoding", &PageAsk::accept_encoding},
    {"Cache-Control", &PageAsk::cache_control},
    {"traceparent", &PageAsk::traceparent},
    {"X-Api-Key", &PageAsk::api_key},
    {"Neptune-Service-Class", &PageAsk::service_class},
    {"X-Forwarded-For", &PageAsk::forwarded_for},
}};

// Bytes that no header and no target contains.
constexpr char kSeparator = '\n';

bool IsFeed(PageFormat format) { return format == PageFormat::kRss || format == PageFormat::kAtom; }

}  // namespace

void AddHeader(std::string_view name, std::string_view value, PageAsk* ask) {
  for (const auto& [known, field] : kFields) {
    if (known.size() != name.size() || !neptune::EqualsIgnoringCase(known, name)) continue;
    std::string_view& taken = ask->*field;
    if (taken.data() == nullptr) {
      taken = value;
    } else if (field != &PageAsk::forwarded_for) {
      ask->repeats_header = true;
    }
    return;
  }
}

PageAsk PageAskOf(const neptune::HttpRequest& request) {
  PageAsk ask{.target = request.target};
  for (const auto& [name, value] : request.headers) AddHeader(name, value, &ask);
  return ask;
}

PageAsk PageAskOf(const neptune::HttpGlance& request) {
  PageAsk ask{.target = request.target};
  for (size_t i = 0; i < request.header_count; ++i) {
    AddHeader(request.headers[i].first, request.headers[i].second, &ask);
  }
  return ask;
}

PageFormat WritePageKey(const PageAsk& ask, bool has_fixed_address, std::string* key) {
  const PageFormat format = PreferredFormat(ask.parameters(), ask.accept);
  key->clear();
  *key += static_cast<char>('0' + static_cast<int>(format));
  *key += kSeparator;
  const neptune::AcceptedCodings accepted(ask.accept_encoding);
  const std::optional<neptune::ContentCoding> coding = accepted.Best();
  *key += coding ? static_cast<char>('0' + static_cast<int>(*coding)) : '-';
  // What is not worth compressing is left as it is, or else wrapped.
  *key += accepted.Accepts(neptune::ContentCoding::kIdentity) ? '+' : '-';
  *key += kSeparator;
  if (IsFeed(format) && !has_fixed_address) *key += ask.host;
  *key += kSeparator;
  *key += ask.target;
  return format;
}

}  // namespace search::frontend

// What of a request decides which bytes answer it, and the key of its page in the page cache.
//
//   key = format | content coding | Host, for feeds whose links begin with it | target, as sent
//
// The target is not parsed: two spellings of a question have pages of their own, because a page
// shows its question as it was typed. `Accept` enters as the format that it selects,
// `Accept-Encoding` as the coding, and as whether an answer may be left as it is. The client's
// class is not part of the key: it decides whether and when a question is answered, not how.
//
// Source: RFC 9110 12.5.5 (what a response varies by), RFC 9111 4.1 (its use as a key).
// No I/O.
// Threads: pure functions.

#pragma once

#include <string>
#include <string_view>

#include "frontend/model/search_request.h"
#include "neptune/wire/http/http_message.h"

namespace search::frontend {

// The parts of a request for a page of results; all of them views into it.
struct PageAsk {
  std::string_view target;  // as sent: "/search?q=a+b"
  std::string_view host;
  std::string_view accept;
  std::string_view accept_encoding;
  std::string_view cache_control;
  std::string_view traceparent;
  std::string_view api_key;
  std::string_view service_class;
  std::string_view forwarded_for;  // says who asks, not what
  // One of these headers but the last was sent twice. The request has no key, because those that
  // answer it do not agree on which one counts: the codings of all are accepted, and the first of
  // the others.
  bool repeats_header = false;

  // The part of the target after '?'.
  std::string_view parameters() const {
    const size_t question = target.find('?');
    return question == target.npos ? std::string_view() : target.substr(question + 1);
  }
};

// Takes over a header if it is one of those above. Of a header that is sent twice the first is
// kept.
void AddHeader(std::string_view name, std::string_view value, PageAsk* ask);

// REQUIRES: the request outlives the result.
PageAsk PageAskOf(const neptune::HttpRequest& request);
PageAsk PageAskOf(const neptune::HttpGlance& request);

// Writes the key of the page to *key and returns its format. `has_fixed_address`: links do not
// begin with the Host header. REQUIRES: !ask.repeats_header.
PageFormat WritePageKey(const PageAsk& ask, bool has_fixed_address, std::string* key);

}  // namespace search::frontend

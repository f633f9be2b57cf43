// A body that does not change, as it is sent in each content coding: compressed once, as well as
// possible, and confirmed with 304 to clients that have it.
//
// Source: RFC 9110 8.8.3 (entity tags), 13.1.2 (If-None-Match), 15.4.5 (304).
// No I/O, no clock.
// Threads: immutable; thread-safe.
// Limits: bodies larger than kPreparedSizeMax are not compressed.

#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "neptune/wire/http/content_coding.h"
#include "neptune/wire/http/http_message.h"

namespace search::frontend {

inline constexpr size_t kPreparedSizeMax = 1 << 20;

// Whether the value of If-None-Match names the entity tag, which is compared weakly; "*" names all.
bool NamesEntityTag(std::string_view if_none_match, std::string_view tag);

class PreparedContent {
 public:
  // `headers` come with every answer: Content-Type, Cache-Control. Content-Encoding, ETag and Vary
  // are added. Costs milliseconds for 100 KiB.
  PreparedContent(std::string body, const neptune::HttpHeaders& headers);

  // 200 with the body in the best coding that the request's headers accept, or 304 if they name
  // its tag. The answer shares the body.
  neptune::HttpResponse Respond(const neptune::HttpHeaders& asked) const;

 private:
  struct Form {
    std::shared_ptr<const std::string> body;  // null: not smaller than identity
    std::string tag;
    neptune::HttpHeaders headers;
    neptune::HttpHeaders headers_of_304;
  };
  static Form MakeForm(neptune::ContentCoding coding, std::string body, std::string_view hash,
                       const neptune::HttpHeaders& headers);

  std::array<Form, neptune::kContentCodingCount> forms_;
};

}  // namespace search::frontend

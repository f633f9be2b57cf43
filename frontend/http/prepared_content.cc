#include "frontend/http/prepared_content.h"

#include <xxhash.h>

#include <utility>

#include "absl/strings/str_format.h"
#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using neptune::ContentCoding;
using neptune::ContentCodingOptions;
using neptune::EqualsIgnoringCase;
using neptune::HttpHeaders;
using neptune::HttpResponse;

// Made once, so that time hardly matters.
constexpr ContentCodingOptions kOptions = {.size_min = 256,
                                           .gzip_size_max = kPreparedSizeMax,
                                           .zstd_size_max = kPreparedSizeMax,
                                           .gzip_level = 9,
                                           .zstd_level = 12};

bool DescribesBody(std::string_view header) {
  return EqualsIgnoringCase(header, "Content-Type") ||
         EqualsIgnoringCase(header, "Content-Encoding");
}

std::string_view WithoutWeakness(std::string_view tag) {
  if (tag.starts_with("W/")) tag.remove_prefix(2);
  return tag;
}

}  // namespace

bool NamesEntityTag(std::string_view if_none_match, std::string_view tag) {
  tag = WithoutWeakness(tag);
  constexpr std::string_view kBetween = " \t,";
  while (true) {
    const size_t begin = if_none_match.find_first_not_of(kBetween);
    if (begin == if_none_match.npos) return false;
    if_none_match.remove_prefix(begin);
    if (if_none_match.starts_with('*')) return true;
    if_none_match = WithoutWeakness(if_none_match);
    // A tag may contain commas; only the second quote ends it.
    const size_t end = if_none_match.find('"', 1);
    if (!if_none_match.starts_with('"') || end == if_none_match.npos) return false;
    if (if_none_match.substr(0, end + 1) == tag) return true;
    if_none_match.remove_prefix(end + 1);
  }
}

PreparedContent::PreparedContent(std::string body, const HttpHeaders& headers) {
  const std::string hash = absl::StrFormat("%016x", XXH3_64bits(body.data(), body.size()));
  for (const ContentCoding coding : {ContentCoding::kGzip, ContentCoding::kZstd}) {
    if (auto encoded = neptune::EncodeBody(coding, body, kOptions)) {
      forms_[static_cast<size_t>(coding)] = MakeForm(coding, *std::move(encoded), hash, headers);
    }
  }
  forms_[0] = MakeForm(ContentCoding::kIdentity, std::move(body), hash, headers);
}

PreparedContent::Form PreparedContent::MakeForm(ContentCoding coding, std::string body,
                                                std::string_view hash, const HttpHeaders& headers) {
  const bool is_encoded = coding != ContentCoding::kIdentity;
  Form form{.body = std::make_shared<const std::string>(std::move(body)),
            .tag = neptune::StrCat("\"", hash, is_encoded ? "-" : "",
                                   is_encoded ? neptune::ContentCodingName(coding) : "", "\""),
            .headers = {},
            .headers_of_304 = {}};
  HttpResponse answer{.status = 200, .headers = headers, .body = {}};
  answer.headers.Set("ETag", form.tag);
  neptune::SetContentCoding(coding, &answer);
  // A client replaces the headers that it keeps by those of a 304: all the others are repeated.
  for (const auto& [name, value] : answer.headers) {
    if (!DescribesBody(name)) form.headers_of_304.Add(name, value);
  }
  form.headers = std::move(answer.headers);
  return form;
}

HttpResponse PreparedContent::Respond(const HttpHeaders& asked) const {
  const auto coding = neptune::ChooseContentCoding(asked.Joined("Accept-Encoding"));
  const Form* form = &forms_[static_cast<size_t>(coding.value_or(ContentCoding::kIdentity))];
  if (form->body == nullptr) form = &forms_[0];
  if (NamesEntityTag(asked.Joined("If-None-Match"), form->tag)) {
    return {.status = 304, .headers = form->headers_of_304, .body = {}};
  }
  return {.status = 200, .headers = form->headers, .body = {}, .shared_body = form->body};
}

}  // namespace search::frontend

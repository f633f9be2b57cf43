// For any bytes in Accept-Encoding, an answer is one that the client can decode, in a coding that
// the header names or implies.

#include <glog/logging.h>
#include <zlib.h>
#include <zstd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "neptune/wire/http/content_coding.h"

namespace neptune {
namespace {

const std::string& Body() {
  static const std::string* const body = new std::string(2000, 'x');
  return *body;
}

std::string Decoded(std::string_view coding, std::string_view body) {
  std::string out(Body().size(), '\0');
  if (coding == "zstd") {
    CHECK_EQ(ZSTD_decompress(out.data(), out.size(), body.data(), body.size()), out.size());
    return out;
  }
  CHECK_EQ(coding, "gzip");
  z_stream stream{};
  CHECK_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
  stream.avail_in = static_cast<uInt>(body.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  CHECK_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  inflateEnd(&stream);
  return out;
}

void CheckAnswer(const AcceptedCodings& accepted, const HttpResponse& answer) {
  if (answer.status == 406) {
    CHECK(!accepted.Best());
    return;
  }
  const std::string_view coding = answer.headers.Get("Content-Encoding");
  if (coding.empty()) {
    CHECK_EQ(answer.body_bytes(), Body());
    return;
  }
  CHECK(accepted.Accepts(coding == "zstd" ? ContentCoding::kZstd : ContentCoding::kGzip));
  CHECK_EQ(Decoded(coding, answer.body_bytes()), Body());
}

void Check(const std::string& text) {
  const AcceptedCodings accepted(text);
  HttpResponse answer = HttpResponse::Text(200, Body());
  EncodeContent({{"Accept-Encoding", text}}, {}, &answer);
  CheckAnswer(accepted, answer);
  if (!answer.headers.Has("Content-Encoding") && answer.status != 406) {
    CHECK(accepted.Accepts(ContentCoding::kIdentity));
  }
}

}  // namespace
}  // namespace neptune

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  neptune::Check(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

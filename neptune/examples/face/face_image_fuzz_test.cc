// Any bytes as a picture: refused, or of as many pixels as its header says, and the same again once
// written.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "neptune/examples/face/face_image.h"
#include "tools/bazel/fuzz/place.h"

namespace neptune::examples {
namespace {

FuzzPlace read_picture("a picture is read");

void Check(std::string_view bytes) {
  const auto image = ParsePgm(bytes);
  if (!image.ok()) return;
  read_picture.Reach();
  CHECK_EQ(image->pixels.size(), size_t{image->width} * image->height);
  CHECK_LE(image->pixels.size(), kFacePixelCountMax);
  const auto again = ParsePgm(ToPgm(*image));
  CHECK(again.ok()) << again.status();
  CHECK(again->width == image->width && again->pixels == image->pixels);
}

}  // namespace
}  // namespace neptune::examples

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  neptune::examples::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}

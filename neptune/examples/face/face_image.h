// Grey pictures of faces: PGM files, folders of them, and made-up faces to try the service with.
//
//   FOLDER/PERSON/NUMBER.pgm    NUMBER from 1
//
// Threads: pure functions.
// Errors: kInvalidArgument bytes that are no binary PGM of one byte a pixel; those of the file system.
// Limits: kFacePixelCountMax pixels.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"

namespace neptune::examples {

inline constexpr size_t kFacePixelCountMax = 1 << 20;

struct GreyImage {
  uint32_t width = 0;
  uint32_t height = 0;
  std::string pixels;  // one byte each, row by row
};

struct FacePicture {
  std::string person;
  uint32_t number = 0;  // of the person's pictures, from 1
  GreyImage image;

  std::string name() const { return person + "/" + std::to_string(number); }
};

StatusOr<GreyImage> ParsePgm(std::string_view bytes);
std::string ToPgm(const GreyImage& image);

// Persons in the order of their names, each one's pictures in the order of their numbers.
StatusOr<std::vector<FacePicture>> ReadFaces(const std::string& folder);
Status WriteFaces(const std::vector<FacePicture>& faces, const std::string& folder);

// Persons who differ by their features, and pictures of each that differ by light, position and noise. The same
// seed makes the same faces.
std::vector<FacePicture> MakeFaces(uint64_t seed, uint32_t person_count, uint32_t picture_count);

}  // namespace neptune::examples

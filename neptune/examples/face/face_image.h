// Grey pictures of faces: PGM files, directories of them, and synthetic faces for tests.
//
//   DIRECTORY/PERSON/NUMBER.pgm    NUMBER from 1
//
// Threads: pure functions.
// Errors: kInvalidArgument bytes that are not a binary PGM with one byte for each pixel; those of
//   the file system.
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
  uint32_t number = 0;  // among the person's pictures, from 1
  GreyImage image;

  std::string name() const { return person + "/" + std::to_string(number); }
};

StatusOr<GreyImage> ParsePgm(std::string_view bytes);
std::string ToPgm(const GreyImage& image);

// Persons are ordered by name, each person's pictures by number.
StatusOr<std::vector<FacePicture>> ReadFaces(const std::string& folder);
Status WriteFaces(const std::vector<FacePicture>& faces, const std::string& folder);

// Makes persons that differ in their features, and pictures of each that differ in light, position
// and noise. The same seed makes the same faces.
std::vector<FacePicture> MakeFaces(uint64_t seed, uint32_t person_count, uint32_t picture_count);

}  // namespace neptune::examples

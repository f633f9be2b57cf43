// Keys of the records of both stores, and the printed form of an image's id.
//
// Threads: pure functions.

#pragma once

#include <cstdint>
#include <string>

#include "neptune/base/strings.h"
#include "neptune/examples/photo_album/image_store.pb.h"

namespace neptune::examples::photo_album {

inline void AppendBigEndian(std::string* to, uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) to->push_back(static_cast<char>(number >> shift));
}

inline std::string NumberKey(char kind, uint64_t number) {
  std::string key(1, kind);
  AppendBigEndian(&key, number);
  return key;
}

inline std::string NumbersKey(char kind, uint64_t first, uint64_t second) {
  std::string key = NumberKey(kind, first);
  AppendBigEndian(&key, second);
  return key;
}

inline std::string IdKey(char kind, const ImageId& id) {
  return NumbersKey(kind, id.client(), id.number());
}

inline std::string NameOf(const ImageId& id) { return StrCat(id.client(), "-", id.number()); }

}  // namespace neptune::examples::photo_album

// Capsules as text: in a capsule file of their own, and the same in a cluster spec.
//
//   # Redis, which answers in well under a millisecond
//   capsule cache {
//     match: inet:127.0.0.1:6379
//     timeout_ms: 500
//     low_watermark: 20  high_watermark: 100
//   }
//
//   text    := { capsule }                       '#' begins a comment, to the end of its line
//   capsule := "capsule" NAME "{" { FIELD ":" VALUE } "}"
//   VALUE   := a word without spaces, '"', '{' and '}', or text in '"', where \" and \\ stand for " and \ themselves
//
// The first capsule is the top of the stack. README.md lists the fields.
//
// A parser of our own and not Protobuf's text format: the library that is preloaded into foreign programs reads these
// files too, and cannot bring a Protobuf with it that is not theirs.
//
// Source: [Chu05] IV.D (configuration files).
// LoadCapsuleFile reads a file.
// Threads: pure functions.
// Errors: kInvalidArgument "FILE:LINE: reason", of the first mistake; those of reading the file.
// Limits: kCapsuleTextSizeMax bytes, kCapsuleCountMax capsules, kCapsuleRuleCountMax rules each.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/capsule/capsule_config.h"

namespace neptune {

inline constexpr size_t kCapsuleTextSizeMax = 1 << 20;

struct CapsuleSource {
  // Stands in the messages.
  std::string file;
  // Where relative paths of plug-in libraries start; empty: they stay as they are.
  std::string folder{};
};

// `warnings`, unless null, gets "FILE:LINE: reason" for each rule that takes nothing, or shares operations with one
// above it.
StatusOr<std::vector<CapsuleConfig>> ParseCapsules(std::string_view text,
                                                   const CapsuleSource& source,
                                                   std::vector<std::string>* warnings);
StatusOr<std::vector<CapsuleConfig>> LoadCapsuleFile(const std::string& path,
                                                     std::vector<std::string>* warnings);

// Text that ParseCapsules reads as the same value.
std::string FormatCapsule(const CapsuleConfig& config);

}  // namespace neptune

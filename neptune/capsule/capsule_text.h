// Text format of capsule definitions, used in capsule files and by the administration port.
//
//   # Redis, which answers in well under a millisecond
//   capsule cache {
//     match: inet:127.0.0.1:6379
//     timeout_ms: 500
//     low_watermark: 20  high_watermark: 100
//   }
//
//   text    := { capsule }                  '#' begins a comment, to the end of its line
//   capsule := "capsule" NAME "{" { FIELD ":" VALUE } "}"
//   VALUE   := a word without spaces, '"', '{' and '}', or text in '"' (escapes: \" and \\)
//
// The first capsule is the top of the stack. README.md lists the fields.
//
// The format is not Protobuf's text format because the library that is preloaded into foreign
// programs reads these files too and cannot bring its own Protobuf into such a program. Cluster
// specs have a message with the same fields (CapsuleSpec of neptune/node/cluster_spec.proto).
//
// Source: [Chu05] IV.D (configuration files).
// LoadCapsuleFile reads a file.
// Threads: pure functions.
// Errors: kInvalidArgument "FILE:LINE: reason" of the first mistake; errors of reading the file.
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
  // File name for messages.
  std::string file;
  // Base folder for relative paths of plug-in libraries; empty: paths are not changed.
  std::string folder{};
};

// If `warnings` is not null, appends "FILE:LINE: reason" for each rule that is shadowed by, or
// overlaps, a rule above it.
StatusOr<std::vector<CapsuleConfig>> ParseCapsules(std::string_view text,
                                                   const CapsuleSource& source,
                                                   std::vector<std::string>* warnings);
StatusOr<std::vector<CapsuleConfig>> LoadCapsuleFile(const std::string& path,
                                                     std::vector<std::string>* warnings);

// A field by its name and with its value as in the text format.
struct CapsuleField {
  std::string name;
  std::string value;
};
// Builds one capsule from fields that came in another format. `folder`: see CapsuleSource.
StatusOr<CapsuleConfig> CapsuleOfFields(const std::string& name,
                                        const std::vector<CapsuleField>& fields,
                                        const std::string& folder);

// Inverse of ParseCapsules for one capsule.
std::string FormatCapsule(const CapsuleConfig& config);

}  // namespace neptune

// The version of the project, which every program prints with --version.
//
// Threads: constants.

#pragma once

namespace neptune {

// Semantic versioning; CHANGELOG.md says what each version changed.
inline constexpr char kVersion[] = "0.1.0";

}  // namespace neptune

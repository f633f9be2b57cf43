// The index tier "xapian", the worked example of a foreign engine: Xapian stores, matches and
// counts; scores are ours.
//
// Threads, errors, limits: as in engine_kit/engine_variant.h.
#pragma once

#include "index/tier/engine_kit/engine.h"

namespace search::index {
inline constexpr char kXapianTierName[] = "xapian";
extern const EngineDriver kXapianDriver;
}  // namespace search::index

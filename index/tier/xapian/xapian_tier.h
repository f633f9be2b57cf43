// The index tier "xapian", a worked example: Xapian stores, matches and counts; scores are ours.
//
// Threads, errors, limits: those of engine_kit/engine_variant.h.
#pragma once

#include "index/tier/engine_kit/engine.h"

namespace search::index {
inline constexpr char kXapianTierName[] = "xapian";
extern const EngineDriver kXapianDriver;
}  // namespace search::index

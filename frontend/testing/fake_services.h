// Fakes of the services that a frontend calls: tiers, document servers and the query cache.
//
// The collection: the word `common` is in kCommonHitCount documents of each partition of tier 1,
// `rare` in one; both are in kTier2HitCount documents of each partition of tier 2, which score
// lower for `common` and higher otherwise. Tier 1 knows these bounds of tier 2, except for a query
// with the word `unbounded`. For the word `overload` tiers refuse like an overloaded server, for
// `forbid` they reject the query as invalid, and a query with `nowhere` finds nothing; with
// `nosuchsite` they name the site git. For `endless` partition 1 of tier 1 works until it is ended
// early and then returns one document; for `futile` it then answers with none, for `fruitless` not
// at all. Tier 1 has a time limit of kFakeTimeLimit. A phrase that ends with `apart` finds nothing,
// and for `crowded` without `common` partition 1 of tier 1 refuses.
//
// Partition 0 of tier 1 has kLopsidedHitCount documents with `lopsided`, partition 1 has one. For
// `bygone` tiers answer as programs that do not know shares.
//
// For `heavy` each partition of a tier works for kHeavyWork of processor time, for `verbose` each
// partition of the document servers; both look every kHeavyStretch whether they have to stop.
//
// Documents of tier 1 are of the site git, those of tier 2 of git-doc; a question with `uncounted`
// is not counted by site in time. Scores are explained by a static rank of 1 and one word.
//
// No document has `slow`, `unoffered`, and a word with `comon` in it; one has `seldom`, every other
// word is in many.
// Tiers suggest the phrases of kFakePhrases, know `common` as the word surely meant by `comon`,
// perhaps by `xcomon` and `seldom`, take kSlowSpelling for a query with the word `slow`, and offer
// no suggestions for `unoffered`.
//
// Threads: as ServiceModule says.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "neptune/service/service_module.h"

namespace search::frontend {

inline constexpr int kCommonHitCount = 8;
inline constexpr int kTier2HitCount = 3;
inline constexpr int kLopsidedHitCount = 60;
// The version of an answer for which none is asked; else it has the one that is asked for.
inline constexpr uint64_t kFakeIndexVersion = 7;
// What the cache says of the age of every entry, however long it has been there.
inline constexpr uint32_t kFakeCacheAgeMs = 1234;
inline constexpr const char* kFakePhrases[] = {"common lisp", "common sense", "rare bird"};
inline constexpr neptune::Duration kSlowSpelling = std::chrono::seconds(1);
inline constexpr neptune::Duration kFakeTimeLimit = std::chrono::milliseconds(100);
inline constexpr neptune::Duration kHeavyWork = std::chrono::milliseconds(80);
inline constexpr neptune::Duration kHeavyStretch = std::chrono::microseconds(100);
// First document number of tier 2; smaller numbers belong to tier 1.
inline constexpr uint64_t kFirstTier2Document = 10'000;

// The modules `fake_tier`, `fake_documents` and `fake_cache`.
// Errors: NOT_FOUND unknown name.
neptune::StatusOr<std::unique_ptr<neptune::ServiceModule>> MakeFakeService(
    const std::string& module);

}  // namespace search::frontend

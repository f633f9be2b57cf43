// What to say about documents that lack a field by which the question filters or orders.
//
// Threads: pure function.

#pragma once

#include <string>
#include <vector>

#include "index/tier/tier.pb.h"

namespace search::frontend {

// Sentences, in no case more than three. `fields`: those by which the question filters
// (index::FilteredFields). `hits` is the merge of the answers of all tiers that were asked;
// `is_complete`: these are whole, and no tier with documents was left out.
std::vector<std::string> FieldNotes(const std::vector<std::string>& fields,
                                    const index::TierAnswer& hits, bool is_complete);

}  // namespace search::frontend

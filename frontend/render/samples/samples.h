// Sample answers for tests and the preview program: usual ones, partial ones, and hostile ones in
// which every text tries to break out of the page.
//
// Threads: pure functions.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "frontend/model/answer.h"
#include "frontend/render/render.h"

namespace search::frontend::samples {

SearchAnswer CompleteAnswer();  // page 1 of many, tier 1 only
SearchAnswer DeepAnswer();      // page 23, both tiers, from the cache
SearchAnswer PartialAnswer();   // two partitions and one document partition missing
SearchAnswer NarrowedAnswer();  // with an exclusion and a site
SearchAnswer GivenUpAnswer();   // a result lacks a wanted word
SearchAnswer DetailedAnswer();  // with counts by site and an explained score
SearchAnswer DatedAnswer();     // ordered by date, narrowed by a field
SearchAnswer FoldedAnswer();    // similar pages and more of a site
SearchAnswer CutAnswer();       // two partitions were ended early with partial results
SearchAnswer EmptyAnswer();     // nothing matches
SearchAnswer MisspelledAnswer();
// Results of another spelling.
SearchAnswer CorrectedAnswer();
SearchAnswer RelaxedAnswer();    // no page has the phrase that is demanded
SearchAnswer BeyondEndAnswer();  // matches, but not this far down
SearchAnswer HostileAnswer();    // markup, scripts, control characters, broken UTF-8 everywhere
CachedDocument UsualDocument();
CachedDocument StructuredDocument();  // all elements, with marks
CachedDocument HostileDocument();
ErrorAnswer OverloadError();
ErrorAnswer ParameterError();
ErrorAnswer HostileError();

ClusterState SomeCluster();  // one node does not answer, one is draining
ClusterState HostileCluster();
SearchTrace SlowTrace();  // partial, and one server has a long queue wait
SearchTrace HostileTrace();
std::vector<TraceLog::Kind> KeptTraces();

// Texts that must never become markup, links or control characters in any format.
std::vector<std::string> HostileTexts();

// All HTML pages of the samples with a short name each.
std::vector<std::pair<std::string, RenderedPage>> AllHtmlPages();

}  // namespace search::frontend::samples

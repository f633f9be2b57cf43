// Names of the services, methods and operators of index tiers.
//
// Source: [Chu03] figure 5 (registered operators).
// Names only.
// Shapes: the local operator takes a TierQuery and gives a TierAnswer; the reduce operator takes
//   two TierAnswers and, as its parameters, the same TierQuery, and gives a TierAnswer.

#pragma once

namespace search::index {

// Tier 1 holds the documents with the best static ranks, tier 2 all others.
inline constexpr char kTier1Service[] = "tier1";
inline constexpr char kTier2Service[] = "tier2";

// Local operator, a stateless long-running read: answers one partition.
inline constexpr char kTierSearchMethod[] = "Search";

// Reduce operator: merges the answers of two disjoint sets of partitions.
inline constexpr char kTierReduceOperator[] = "search.MergeTierAnswers";

// Methods for suggestions (suggest.proto): SuggestQuery to SuggestAnswer and SpellQuery to
// SpellAnswer, of short grain; CountQuery to CountAnswer, of long grain.
inline constexpr char kTierSuggestMethod[] = "Suggest";
inline constexpr char kTierSpellMethod[] = "Spell";
inline constexpr char kTierCountMethod[] = "Count";
inline constexpr char kSuggestReduceOperator[] = "search.MergeSuggestAnswers";
inline constexpr char kCountReduceOperator[] = "search.MergeCountAnswers";

// Methods for details of a search, of long grain: ExplainQuery to ExplainAnswer (explain.proto) and
// FacetQuery to FacetAnswer (facet.proto).
inline constexpr char kTierExplainMethod[] = "Explain";
inline constexpr char kTierFacetMethod[] = "CountSites";
inline constexpr char kExplainReduceOperator[] = "search.MergeExplainAnswers";
inline constexpr char kFacetReduceOperator[] = "search.MergeFacetAnswers";

// Method for titles of given documents (titles.proto): TitlesQuery to TitlesAnswer, of short grain.
inline constexpr char kTierTitlesMethod[] = "Titles";
inline constexpr char kTitlesReduceOperator[] = "search.MergeTitlesAnswers";

// Method for the files of a partition (files.proto): FilesQuery to FilesAnswer, of long grain.
inline constexpr char kTierFilesMethod[] = "Files";

}  // namespace search::index

#include "frontend/render/samples/samples.h"

#include <limits>

#include "neptune/base/strings.h"

namespace search::frontend::samples {
namespace {

using neptune::StrCat;
using std::chrono::milliseconds;
using std::string_literals::operator""s;

// "*word*" marks what matches the query.
std::vector<TextPiece> Pieces(std::string_view marked) {
  std::vector<TextPiece> pieces;
  bool matches = false;
  while (!marked.empty()) {
    const std::string_view text = marked.substr(0, marked.find('*'));
    marked.remove_prefix(std::min(marked.size(), text.size() + 1));
    if (!text.empty()) pieces.push_back({std::string(text), matches});
    matches = !matches;
  }
  return pieces;
}

std::vector<SearchResult> UsualResults() {
  return {
      {.doc_id = "4711",
       .url = "doc:cppreference-doc-en-html/en/cpp/container/unordered_map.html",
       .title = "std::unordered_map - cppreference.com",
       .site = "cppreference-doc-en-html",
       .snippet =
           Pieces("std::unordered_map is an associative container that contains key-value "
                  "pairs with unique keys. Search, insertion and removal have average "
                  "constant time. … the *hash* of the *table*’s keys decides the bucket, and "
                  "an *iterator* stays valid unless rehashing occurs."),
       .score = 11.482},
      {.doc_id = "8112",
       .url = "https://docs.python.org/3.11/library/collections.abc.html",
       .title = "collections.abc — Abstract Base Classes for Containers",
       .site = "python3.11-doc",
       .snippet =
           Pieces("Used to determine whether a class provides a particular interface; for "
                  "example, whether it is *hashable* … ABC for classes that provide the "
                  "__iter__() and __next__() methods, see also the definition of *iterator*."),
       .score = 9.75},
      {.doc_id = "1020",
       .url = "doc:libglib2.0-doc/glib-2.0/glib-Hash-Tables.html",
       .title = "Hash Tables: GLib Reference Manual",
       .site = "libglib2.0-doc",
       .snippet =
           Pieces("A *GHashTableIter* structure represents an *iterator* that can be used to "
                  "iterate over the elements of a *hash* *table*. It is typically allocated on "
                  "the stack and initialised with g_hash_table_iter_init()."),
       .score = 9.21},
      {.doc_id = "23",
       .url = "doc:postgresql-doc-15/html/hash-index.html",
       .title = "PostgreSQL: Documentation: 15: Chapter 72. Hash Indexes",
       .site = "postgresql-doc-15",
       .snippet =
           Pieces("… supports single-column indexes only and does not allow uniqueness checking. "
                  "Each *hash* index tuple stores just the 4-byte *hash* value, not the actual "
                  "column value of the *table*."),
       .score = 7.02},
      {.doc_id = "900018",
       .url = "doc:git-doc/technical/api-index-and-hash-tables-with-a-rather-long-name.html",
       .title = "hashmap: generic hash map data structure",
       .site = "git-doc",
       .snippet =
           Pieces("hashmap_iter_init initialises an *iterator*; entries must not be added while it "
                  "is in use, since the *table* may be resized."),
       .score = 6.4},
  };
}

ServiceCoverage Service(std::string name, std::string implementation, uint32_t partitions) {
  return {.service = std::move(name),
          .implementation = std::move(implementation),
          .partitions_asked = partitions};
}

}  // namespace

SearchAnswer CompleteAnswer() {
  SearchAnswer answer;
  answer.query = "hash table iterator";
  answer.results = UsualResults();
  answer.total = 1'284;
  answer.took = std::chrono::microseconds(4'120);
  answer.answered_at = {1'772'357'400'000'000'000};
  answer.coverage.tiers = {Service("tier 1", "segments", 4)};
  answer.coverage.documents = Service("documents", "rocksdb", 2);
  answer.coverage.cache = {.outcome = CacheUse::Outcome::kMiss, .implementation = "memory"};
  return answer;
}

SearchAnswer DeepAnswer() {
  SearchAnswer answer = CompleteAnswer();
  answer.start = 220;
  answer.notes = {"The words “the” and “of” are left out; write +the to ask for them."};
  answer.total_is_exact = false;
  answer.total = 18'400;
  answer.took = std::chrono::microseconds(840);
  answer.coverage.tiers.push_back(Service("tier 2", "segments", 4));
  answer.coverage.cache = {.outcome = CacheUse::Outcome::kHit,
                           .age = std::chrono::seconds(95),
                           .implementation = "memory"};
  return answer;
}

SearchAnswer PartialAnswer() {
  SearchAnswer answer = CompleteAnswer();
  answer.total = 731;
  answer.total_is_exact = false;
  answer.took = std::chrono::milliseconds(212);
  answer.coverage.tiers[0].missing = {{2, "no live replica"}};
  answer.coverage.tiers.push_back(Service("tier 2", "rocksdb", 4));
  answer.coverage.tiers[1].missing = {{0, "deadline exceeded"}};
  answer.coverage.tiers[1].evaluated_completely = false;
  answer.coverage.documents.missing = {{1, "connection refused"}};
  answer.coverage.cache.outcome = CacheUse::Outcome::kFailed;
  answer.results[1] = {.doc_id = "8112", .score = 9.75, .has_summary = false};
  return answer;
}

SearchAnswer NarrowedAnswer() {
  SearchAnswer answer = CompleteAnswer();
  answer.query = "hash table -java site:cppreference";
  answer.narrowings = {{true, "java", "hash table site:cppreference"},
                       {false, "cppreference", "hash table -java"}};
  return answer;
}

SearchAnswer DetailedAnswer() {
  SearchAnswer answer = CompleteAnswer();
  answer.with_explanations = true;
  answer.explanation_note =
      "4 results are not explained: parts of the index did not answer in time.";
  SiteFacets facets{.left_out_count = 3,
                    .total = 1'284,
                    .is_exact = false,
                    .note = "Counting ended early; there are at least as many documents."};
  facets.sites = {
      {.name = "git-doc", .document_count = 1'020, .query = "hash table iterator site:git-doc"},
      {.name = "zsh", .document_count = 7, .is_filter = true}};
  answer.site_facets = facets;
  SearchResult& result = answer.results.front();
  ScoreExplanation explanation{.static_rank = 0.5,
                               .static_rank_score = 0.75,
                               .first_score = 9.25,
                               .is_rated = true,
                               .proximity = 1.5,
                               .title = 0.732,
                               .score = 11.482,
                               .is_current = false};
  explanation.words = {
      {.term = "hash",
       .word = "hash",
       .occurrences = 1,
       .document_count = 812,
       .weight = 3.1,
       .frequencies = {1, 14, 2},
       .saturation = 0.9,
       .score = 8.5},
      {.term = "iter", .word = "iterator", .title_only = true, .occurrences = 2, .share = 0.8}};
  result.explanation = explanation;
  return answer;
}

SearchAnswer DatedAnswer() {
  SearchAnswer answer = CompleteAnswer();
  answer.by_date = true;
  answer.narrowings = {
      {.text = "after:2020", .query_without = "hash table iterator", .is_field = true}};
  answer.notes = {"Pages that state no date are left out by before: and after:."};
  for (SearchResult& result : answer.results) {
    result.score = std::numeric_limits<double>::quiet_NaN();
    result.date = "2024-03-05";
  }
  answer.results.back().date.clear();
  return answer;
}

SearchAnswer GivenUpAnswer() {
  SearchAnswer answer = CompleteAnswer();
  answer.results[1].lacks = {"iterator"};
  answer.given_up = {{.word = "iterator", .result_count = 1, .demanding = "hash table +iterator"}};
  return answer;
}

SearchAnswer FoldedAnswer() {
  SearchAnswer answer = CompleteAnswer();
  answer.covered_count = static_cast<uint32_t>(answer.results.size()) + 5;
  answer.results[0].public_url = "https://en.cppreference.com/w/cpp/container/unordered_map";
  answer.results[0].similar = {
      {"4712", "doc:cppreference-doc-en-html/en/cpp/container/unordered_multimap.html",
       "std::unordered_multimap"},
      {"4713", "doc:cppreference-doc-en-html/en/cpp/experimental/unordered_map.html", ""}};
  answer.results[1].more_of_site = 3;
  answer.results[1].site_query = "hash table iterator site:python3.11-doc";
  return answer;
}

SearchAnswer CutAnswer() {
  SearchAnswer answer = CompleteAnswer();
  answer.total_is_exact = false;
  answer.took = std::chrono::milliseconds(318);
  answer.coverage.tiers[0].evaluated_completely = false;
  answer.coverage.tiers[0].ended_early = {1, 3};
  return answer;
}

SearchAnswer EmptyAnswer() {
  SearchAnswer answer = CompleteAnswer();
  answer.query = "title:zyzzyva \"no such phrase\"";
  answer.results.clear();
  answer.total = 0;
  answer.coverage.tiers.push_back(Service("tier 2", "segments", 4));
  answer.coverage.documents.partitions_asked = 0;
  return answer;
}

SearchAnswer MisspelledAnswer() {
  SearchAnswer answer = EmptyAnswer();
  answer.query = "hahs tabel iterator";
  answer.did_you_mean = "hash table iterator";
  return answer;
}

SearchAnswer CorrectedAnswer() {
  SearchAnswer answer = CompleteAnswer();
  answer.corrected_query = answer.query;
  answer.query = "hahs tabel iterator";
  return answer;
}

SearchAnswer RelaxedAnswer() {
  SearchAnswer answer = CompleteAnswer();
  answer.query = "\"hash tables iterate\" -java";
  answer.unmet_demands = {"\"hash tables iterate\""};
  answer.narrowings = {{true, "java", "\"hash tables iterate\""}};
  return answer;
}

SearchAnswer BeyondEndAnswer() {
  SearchAnswer answer = CompleteAnswer();
  answer.start = 5'000;
  answer.total = 37;
  answer.results.clear();
  return answer;
}

std::vector<std::string> HostileTexts() {
  return {
      "<script>alert(1)</script>",
      "</title><script>alert(1)</script>",
      "\"><img src=x onerror=alert(1)>",
      "' onmouseover='alert(1)",
      "</mark></p></li></ol><h1>gone</h1>",
      "<!-- --!> <![CDATA[ ]]> <?xml?>",
      "&lt;b&gt; &amp;amp; &#x3c;script&#x3e; &#0;",
      "javascript:alert(1)",
      "nul\0 bell\a escape\x1b[2J delete\x7f vertical\v"s,
      "broken utf-8 \xC3( \xF0\x9F \xED\xA0\x80 \xFF",
      "noncharacters \xEF\xBF\xBE \xEF\xBF\xBF c1 \xC2\x85",
      "\xE2\x80\xAE right to left override",
      "naïve 日本語 العربية 𝄞",
      "{searchTerms} %3Cscript%3E ${7*7}",
      std::string(3'000, 'W'),
  };
}

SearchAnswer HostileAnswer() {
  SearchAnswer answer = CompleteAnswer();
  answer.results.clear();
  std::string all;
  uint64_t number = 0;
  for (const std::string& text : HostileTexts()) {
    answer.results.push_back({.doc_id = StrCat(number, "/../", text),
                              .url = number % 2 == 0 ? text : StrCat("https://evil.example/", text),
                              .title = text,
                              .site = text,
                              .snippet = {{text, false}, {text, true}},
                              .lacks = {text},
                              .score = static_cast<double>(number)});
    ++number;
    if (text.size() < 200) neptune::StrAppend(&all, text, " ");
  }
  answer.query = all;
  answer.notes = {all, "<b>note</b>"};
  answer.narrowings = {{true, all, all}, {false, "<b>site</b>", " "}};
  answer.given_up = {{.word = all, .result_count = 1, .demanding = all}};
  answer.corrected_query = all;
  answer.unmet_demands = {all, "\"" + all};
  answer.did_you_mean = all;
  answer.with_explanations = true;
  answer.explanation_note = all;
  answer.site_facets = SiteFacets{.is_exact = false, .note = all};
  answer.site_facets->sites = {{.name = all, .query = all}, {.name = "<b>site</b>"}};
  answer.results.front().explanation = ScoreExplanation();
  answer.results.front().explanation->words = {{.term = all, .word = all}};
  answer.coverage.tiers[0].service = all;
  answer.coverage.tiers[0].implementation = all;
  answer.coverage.tiers[0].missing = {{1, all}};
  answer.coverage.cache.implementation = all;
  return answer;
}

CachedDocument UsualDocument() {
  CachedDocument document = {.doc_id = "8112",
                             .url = "https://docs.python.org/3.11/library/collections.abc.html",
                             .title = "collections.abc — Abstract Base Classes for Containers",
                             .site = "python3.11-doc",
                             .query = "hash table iterator"};
  document.text =
      "New in version 3.3: Formerly, this module was part of the collections module.\n\n"
      "This module provides abstract base classes that can be used to test whether a class "
      "provides "
      "a particular interface; for example, whether it is hashable or whether it is a mapping.\n"
      "An issubclass() or isinstance() test for an interface works in one of three ways.\n"
      "    class C(Sequence):\n        def __init__(self): ...\n";
  return document;
}

CachedDocument StructuredDocument() {
  CachedDocument document = {.doc_id = "17",
                             .url = "doc:git-doc/git-stash.html",
                             .title = "git-stash(1)",
                             .site = "git",
                             .public_url = "https://git-scm.com/docs/git-stash",
                             .query = "stash"};
  std::string& text = document.text;
  std::string& structure = document.structure;
  const auto add = [&](std::string_view before, std::string_view words, std::string_view after) {
    neptune::StrAppend(&structure, text.empty() ? "" : "1", before, words.size(), after);
    neptune::StrAppend(&text, text.empty() ? "" : "\n", words);
  };
  add("B", "NAME", "/");
  add("p", "git-stash - Stash the changes away", "/");
  add("c", "git stash list\n\ngit stash pop [--index]", "/");
  add("pb", "The stash is a stack", "//");
  add("pa=18 ", "git-commit(1)", "//");
  add("pa=https://git-scm.com/ ", "The stash on the Web", "//");
  add("ul", "push", "/");
  add("lm", "pop", "///");
  add("dt", "--index", "/");
  add("e", "Restores the index of the stash too.", "//");
  add("TK", "Options", "/");
  add("Rh=2 ", "Option", "//");
  add("Rx/x", "of stash", "///");
  add("q", "A quotation.", "/");
  for (size_t at = text.find("stash"); at != text.npos; at = text.find("stash", at + 1)) {
    document.matches.push_back({static_cast<uint32_t>(at), 5});
  }
  return document;
}

CachedDocument HostileDocument() {
  CachedDocument document = {.doc_id = "\"><script>", .url = "javascript:alert(1)"};
  for (const std::string& text : HostileTexts()) neptune::StrAppend(&document.text, text, "\n");
  document.title = HostileTexts()[1];
  document.query = HostileTexts()[2];
  return document;
}

ErrorAnswer OverloadError() {
  return {.http_status = 503,
          .title = "Too busy to search",
          .detail = "More searches are waiting than the cluster can answer in time.",
          .query = "hash table iterator",
          .retry_after_s = 2};
}

ErrorAnswer ParameterError() {
  return {.http_status = 400,
          .title = "This address cannot be answered",
          .detail = "parameter start: must be a whole number from 0 to 10000",
          .parameter = "start",
          .query = "hash table iterator"};
}

ErrorAnswer HostileError() {
  ErrorAnswer error = {.http_status = 400};
  for (const std::string& text : HostileTexts()) neptune::StrAppend(&error.detail, text, " ");
  error.title = HostileTexts()[1];
  error.parameter = HostileTexts()[2];
  error.query = HostileTexts()[3];
  return error;
}

SearchTrace SlowTrace() {
  SearchAnswer answer = PartialAnswer();
  answer.trace_id = "0af7651916cd43dd8448eb211c80319c";
  answer.answered_at = {1'700'000'000'123'000'000};
  answer.took = milliseconds(412);
  answer.steps = {{"arrival", StepKind::kQueue, milliseconds(0), milliseconds(1)},
                  {"cache", StepKind::kWait, milliseconds(2), milliseconds(5)},
                  {"gate", StepKind::kQueue, milliseconds(5), milliseconds(25)},
                  {"tier 1", StepKind::kWait, milliseconds(26), milliseconds(386)},
                  {"documents", StepKind::kWait, milliseconds(387), milliseconds(410)}};
  ServiceCoverage& tier = answer.coverage.tiers.front();
  tier.took = milliseconds(360);
  tier.forming = milliseconds(2);
  tier.tree_scheme = "lat";
  tier.tree = {{.node = "store-1",
                .parent = -1,
                .partitions = {0, 2},
                .answered = true,
                .queued = milliseconds(4),
                .searched = milliseconds(31),
                .replied = milliseconds(352),
                .reducing = milliseconds(3),
                .reduction_count = 2},
               {.node = "store-2",
                .parent = 0,
                .partitions = {1},
                .answered = true,
                .queued = milliseconds(290),
                .searched = milliseconds(330),
                .replied = milliseconds(331)},
               {.node = "store-3", .parent = 0, .partitions = {3}, .answered = false}};
  return MakeTrace(answer, neptune::OkStatus(), "gold", /*sampled=*/true, /*keeps_query=*/true);
}

SearchTrace HostileTrace() {
  SearchTrace trace = MakeTrace(HostileAnswer(), neptune::Unavailable(HostileTexts().front()),
                                HostileTexts().front(), true, true);
  trace.id = HostileTexts().front();
  return trace;
}

ClusterState SomeCluster() {
  ClusterState state;
  state.taken_at = {1'700'000'000'123'000'000};
  for (const int i : {1, 2, 3, 4}) {
    ConsoleNode& node = state.nodes.emplace_back();
    node.name = StrCat("store-", i);
    node.call_endpoint = StrCat("127.0.0.1:", 7000 + i);
    node.load_index = static_cast<uint32_t>(i * i);
    node.processor_share = 0.2 * i;
    const uint32_t half = i <= 2 ? 0 : 2;
    node.services = {{"tier1", {half, half + 1}, "segment"}, {"docs", {half, half + 1}, "rocksdb"}};
    node.tables = {{"capsules",
                    "Capsules",
                    {"name", "inside", "waiting", "state"},
                    {{"default", "0", "0", "open"}, {"docs", StrCat(i), "0", "open"}}},
                   {"replicas",
                    "Replicas",
                    {"partition", "role", "epoch", "version"},
                    {{StrCat("docs/", half), i % 2 == 1 ? "primary" : "secondary", "3", "1042"}}}};
  }
  state.nodes[1].asked = neptune::DeadlineExceeded("no answer from 127.0.0.1:9002");
  state.nodes[1].tables.clear();
  state.nodes[2].draining = true;
  return state;
}

ClusterState HostileCluster() {
  const std::string bad = HostileTexts().front();
  ClusterState state;
  ConsoleNode& node = state.nodes.emplace_back();
  node.name = node.call_endpoint = bad;
  node.services = {{bad, {0}, bad}};
  node.asked = neptune::Unavailable(bad);
  node.tables = {{bad, bad, {bad}, {{bad}}}};
  return state;
}

std::vector<TraceLog::Kind> KeptTraces() {
  const auto slow = std::make_shared<const SearchTrace>(SlowTrace());
  const auto hostile = std::make_shared<const SearchTrace>(HostileTrace());
  return {{"partial", 17, {slow}},
          {"cut", 0, {}},
          {"refused", 0, {}},
          {"failed", 1, {hostile}},
          {"200 to 500 ms", 40'123, {slow, hostile}},
          {"sampled", 401, {slow}}};
}

std::vector<std::pair<std::string, RenderedPage>> AllHtmlPages() {
  const Site site{.document_count = 7'512};
  std::vector<std::pair<std::string, RenderedPage>> pages;
  const std::pair<const char*, SearchAnswer> answers[] = {
      {"results", CompleteAnswer()},      {"deep", DeepAnswer()},
      {"partial", PartialAnswer()},       {"cut", CutAnswer()},
      {"narrowed", NarrowedAnswer()},     {"given_up", GivenUpAnswer()},
      {"folded", FoldedAnswer()},         {"empty", EmptyAnswer()},
      {"misspelled", MisspelledAnswer()}, {"beyond", BeyondEndAnswer()},
      {"detailed", DetailedAnswer()},     {"dated", DatedAnswer()},
      {"hostile", HostileAnswer()},       {"corrected", CorrectedAnswer()},
      {"relaxed", RelaxedAnswer()}};
  for (const auto& [name, answer] : answers) {
    pages.emplace_back(name, RenderAnswer(answer, PageFormat::kHtml, site));
  }
  for (const auto& [name, answer] :
       {std::pair{"trace", SlowTrace()}, std::pair{"trace_hostile", HostileTrace()}}) {
    pages.emplace_back(name, RenderTrace(answer, PageFormat::kHtml, site));
  }
  for (const auto& [name, state] :
       {std::pair{"console", SomeCluster()}, std::pair{"console_hostile", HostileCluster()}}) {
    pages.emplace_back(name,
                       RenderConsole(state, KeptTraces()[4].latest, 5, PageFormat::kHtml, site));
  }
  pages.emplace_back("traces", RenderTraceList(KeptTraces(), PageFormat::kHtml, site));
  pages.emplace_back("home", RenderHomePage(site));
  pages.emplace_back("help", RenderHelpPage(site));
  pages.emplace_back("document", RenderCachedDocument(UsualDocument(), PageFormat::kHtml, site));
  pages.emplace_back("document_structured",
                     RenderCachedDocument(StructuredDocument(), PageFormat::kHtml, site));
  pages.emplace_back("document_hostile",
                     RenderCachedDocument(HostileDocument(), PageFormat::kHtml, site));
  pages.emplace_back("error_overload", RenderError(OverloadError(), PageFormat::kHtml, site));
  pages.emplace_back("error_parameter", RenderError(ParameterError(), PageFormat::kHtml, site));
  pages.emplace_back("error_hostile", RenderError(HostileError(), PageFormat::kHtml, site));
  return pages;
}

}  // namespace search::frontend::samples

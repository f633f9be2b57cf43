#include "index/core/query/examples.h"

namespace search::index {

namespace {

constexpr QueryExample kExamples[] = {
    {"words", "Pages with any of the words, in any of their endings; the more, the better.",
     "create index concurrently"},
    {"\"a phrase\"", "Pages with the words next to each other, in this order.",
     "\"foreign key constraint\""},
    {"std::vector, pg_dump, O(n)",
     "Alone, a name with punctuation or arguments is a phrase of its parts.", "std::vector"},
    {"--help, -m", "An option of a program is a word; so is a minus with a single letter.",
     "git commit -m"},
    {"__init__, operator<<, ->, &&",
     "Names with signs and signs of two or three characters are words.", "operator<<"},
    {"one NEAR other, NEAR/5",
     "Pages with both words at most ten, or five, words apart, in any order.",
     "mutex NEAR/5 deadlock"},
    {"one OR other", "Pages with at least one side; OR is written in capital letters.",
     "mutex OR semaphore"},
    {"one AND other", "Only pages with both sides.", "mutex AND deadlock"},
    {"-word, NOT word",
     "Leaves out pages with the word. The minus directly precedes it; a single letter needs NOT.",
     "rebase -interactive"},
    {"+word", "Only pages with the word, even if it is so common that it would be left out.",
     "git +stash"},
    {"( )", "Brackets group; without them NOT binds before AND, and AND before OR.",
     "(mutex OR semaphore) timeout"},
    {"-( )", "Leaves out pages that match the whole group.", "iterator -(java OR python)"},
    {"begin*", "Words that begin so: the 64 most frequent ones of each part of the index.", "vec*"},
    {"title:word", "Only in the title.", "title:iterator"},
    {"title:\"a phrase\"", "A phrase in the title.", "title:\"window functions\""},
    {"title:( )", "All of the group in the title.", "title:(hash map)"},
    {"site:name", "Only pages of one site or package; the name's beginning up to a dash is enough.",
     "vector site:cppreference"},
    {"-site:name", "All sites but one.", "vector -site:cppreference"},
    {"url:words", "Only pages whose address has all of these words.", "commit url:git-doc"},
    {"lang:tag", "Only pages that state this language.", "index lang:en"},
    {"after:2024, before:2024-03-05",
     "Only pages that state a date: of this day, month or year and later, or before it.",
     "release after:2023-06 before:2024"},
};

}  // namespace

std::span<const QueryExample> QueryExamples() { return kExamples; }

}  // namespace search::index

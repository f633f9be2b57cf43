#include "index/core/query/examples.h"

namespace search::index {

namespace {

constexpr QueryExample kExamples[] = {
    {"words", "Pages with all of the words, in any order and any of their endings.",
     "create index concurrently"},
    {"\"a phrase\"", "Pages with the words next to each other, in this order.",
     "\"foreign key constraint\""},
    {"std::vector, pg_dump", "A name with punctuation is a phrase of its parts.", "std::vector"},
    {"one OR other", "Pages with at least one side; OR is written in capital letters.",
     "mutex OR semaphore"},
    {"one AND other", "The same as writing both words.", "mutex AND deadlock"},
    {"-word, NOT word", "Leaves out pages with the word. The minus directly precedes it.",
     "rebase -interactive"},
    {"+word", "Requires a word even if it is so common that it would be left out.", "+the shell"},
    {"( )", "Brackets group; without them NOT binds before AND, and AND before OR.",
     "(mutex OR semaphore) timeout"},
    {"-( )", "Leaves out pages that match the whole group.", "iterator -(java OR python)"},
    {"title:word", "Only in the title.", "title:iterator"},
    {"title:\"a phrase\"", "A phrase in the title.", "title:\"window functions\""},
    {"title:( )", "All of the group in the title.", "title:(hash map)"},
    {"site:name", "Only pages of one site or package; the name's beginning up to a dash is enough.",
     "vector site:cppreference"},
    {"-site:name", "All sites but one.", "vector -site:cppreference"},
};

}  // namespace

std::span<const QueryExample> QueryExamples() { return kExamples; }

}  // namespace search::index

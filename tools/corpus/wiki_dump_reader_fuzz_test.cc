// Any bytes give documents within the limits, in valid UTF-8, and a status at the end; reading them
// in pieces of another size gives the same.
#include "tools/corpus/dump_reader_fuzz.h"
#include "tools/corpus/wiki_dump_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  search::tools::CheckDumpReader(data, size, [](search::tools::ByteSource* source) {
    return search::tools::MakeWikiDumpReader(source, {});
  });
  return 0;
}

// Writes the small file that the fuzz target starts from: write_sample FILE

#include <cstdio>
#include <string>

#include "tools/ciff/ciff_writer.h"

namespace {

using search::tools::CiffPostings;

constexpr int kDocuments = 300;

neptune::Status WriteAll(search::tools::FileSink* sink) {
  search::tools::CiffWriter writer(sink);
  search::tools::ciff::Header header;
  header.set_version(1);
  header.set_num_postings_lists(26);
  header.set_total_postings_lists(26);
  header.set_num_docs(kDocuments);
  header.set_total_docs(kDocuments);
  header.set_description("sample");
  NEPTUNE_RETURN_IF_ERROR(writer.WriteHeader(header));
  for (uint32_t i = 0; i < 26; ++i) {
    CiffPostings postings;
    for (uint32_t docid = i; docid < kDocuments; docid += 1 + i * i) postings.Add({docid, i + 1});
    NEPTUNE_RETURN_IF_ERROR(writer.WriteList(std::string(3, static_cast<char>('a' + i)), postings));
  }
  for (int i = 0; i < kDocuments; ++i) {
    search::tools::ciff::DocRecord document;
    document.set_docid(i);
    document.set_collection_docid("D" + std::to_string(i));
    document.set_doclength(i % 50);
    NEPTUNE_RETURN_IF_ERROR(writer.WriteDocument(document));
  }
  return sink->Commit();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_sample FILE\n");
    return 2;
  }
  const auto sink = search::tools::CreateFileSink(argv[1], search::tools::Packing::kNone);
  return sink.ok() && WriteAll(sink->get()).ok() ? 0 : 1;
}

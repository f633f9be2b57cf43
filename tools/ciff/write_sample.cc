// Writes the small files that the fuzz targets start from: write_sample FILE DOCUMENTS

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tools/ciff/ciff_writer.h"

namespace {

using search::tools::CiffPostings;

neptune::Status WriteAll(int documents, search::tools::FileSink* sink) {
  search::tools::CiffWriter writer(sink);
  search::tools::ciff::Header header;
  header.set_version(1);
  header.set_num_postings_lists(26);
  header.set_total_postings_lists(26);
  header.set_num_docs(documents);
  header.set_total_docs(documents);
  header.set_description("sample");
  NEPTUNE_RETURN_IF_ERROR(writer.WriteHeader(header));
  for (uint32_t i = 0; i < 26; ++i) {
    CiffPostings postings;
    for (uint32_t docid = i; docid < static_cast<uint32_t>(documents); docid += 1 + i * i)
      postings.Add({docid, i + 1});
    NEPTUNE_RETURN_IF_ERROR(writer.WriteList(std::string(3, static_cast<char>('a' + i)), postings));
  }
  for (int i = 0; i < documents; ++i) {
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
  if (argc != 3) {
    std::fprintf(stderr, "usage: write_sample FILE DOCUMENTS\n");
    return 2;
  }
  const auto sink = search::tools::CreateFileSink(argv[1], search::tools::Packing::kNone);
  return sink.ok() && WriteAll(std::atoi(argv[2]), sink->get()).ok() ? 0 : 1;
}

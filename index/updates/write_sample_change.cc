// Writes the change that the fuzz target starts from: write_sample_change FILE

#include <cstdio>
#include <fstream>

#include "index/updates/document_change.pb.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_sample_change FILE\n");
    return 2;
  }
  search::index::PartitionChange change;
  auto* document = change.add_documents();
  document->set_doc_id(7);
  document->set_version(12);
  document->mutable_upsert()->set_url("http://a/");
  document->mutable_upsert()->set_title("Cat");
  document->mutable_upsert()->set_text("A cat sat.");
  document->mutable_upsert()->set_static_rank(0.5F);
  document = change.add_documents();
  document->set_doc_id(9);
  document->mutable_removal();
  change.mutable_statistics()->set_version(1);
  change.mutable_statistics()->set_count(1);
  change.mutable_statistics()->set_data("abc");
  std::ofstream(argv[1], std::ios::binary) << change.SerializeAsString();
  return 0;
}

// Searches the BLAST service of a running cluster for homologs of the proteins in a FASTA file.

#include <gflags/gflags.h>

#include <algorithm>
#include <cstdio>

#include "neptune/base/file.h"
#include "neptune/examples/blast/blast_aggregation.h"
#include "neptune/examples/blast/protein_database.h"
#include "neptune/examples/client/caller_path.h"
#include "neptune/examples/client/example_client.h"

DEFINE_string(spec, "neptune/examples/blast/cluster.textproto", "spec of the running cluster");
DEFINE_string(query, "data/var/blast/p0.fasta", "FASTA file with the queries");
DEFINE_int32(count, 3, "number of queries to send");
DEFINE_double(evalue, 0.001, "maximum e-value of a hit");
DEFINE_int32(hits, 10, "maximum hits in an answer");
DEFINE_int32(timeout_ms, 30000, "deadline of each query in milliseconds");

namespace {

using neptune::OkStatus;
using neptune::Status;
using neptune::examples::BlastHits;
using neptune::examples::Protein;

constexpr size_t kQuerySizeMax = 64 << 20;

Status Ask(neptune::ClientSession& session, uint32_t partition_count, const Protein& protein) {
  neptune::examples::BlastQuery query;
  query.set_sequence(protein.letters);
  query.set_evalue_max(FLAGS_evalue);
  query.set_hit_count_max(static_cast<uint32_t>(FLAGS_hits));
  const neptune::TimePoint begin = neptune::this_thread::Now();
  neptune::Data data;
  neptune::AggregationReport report;
  NEPTUNE_RETURN_IF_ERROR(neptune::Aggregate(
      session,
      neptune::examples::BlastAggregation(neptune::ServiceName("blast"), partition_count, query,
                                          begin + std::chrono::milliseconds(FLAGS_timeout_ms)),
      &data, &report));
  const neptune::Duration took = neptune::this_thread::Now() - begin;
  NEPTUNE_ASSIGN_OR_RETURN(const BlastHits* const found, data.As<BlastHits>());
  std::printf("%s: %d hits in %.0f ms\n", protein.title.c_str(), found->hits_size(),
              neptune::ToMillis(took));
  for (const auto& hit : found->hits()) {
    std::printf("  %-20s e-value %-9.3g %6.1f bits  %5.1f %% identical\n", hit.subject().c_str(),
                hit.evalue(), hit.bit_score(), hit.identity_percent());
  }
  return OkStatus();
}

Status AskAll(neptune::ClientSession& session, uint32_t partition_count) {
  NEPTUNE_ASSIGN_OR_RETURN(
      const std::string text,
      neptune::ReadFile(neptune::examples::CallerPath(FLAGS_query), kQuerySizeMax));
  NEPTUNE_ASSIGN_OR_RETURN(const std::vector<Protein> queries, neptune::examples::ParseFasta(text));
  const size_t count = std::min(queries.size(), static_cast<size_t>(FLAGS_count));
  for (size_t i = 0; i < count; ++i) {
    NEPTUNE_RETURN_IF_ERROR(Ask(session, partition_count, queries[i]));
  }
  return OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  return neptune::examples::RunExampleClient(
      &argc, &argv,
      {.usage = "searches the BLAST service of a running cluster",
       .spec = &FLAGS_spec,
       .service = neptune::ServiceName("blast"),
       .register_operators = neptune::examples::RegisterBlastReduce,
       .ask = AskAll});
}

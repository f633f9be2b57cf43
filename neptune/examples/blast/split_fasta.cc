// Splits a protein database into the partitions of the BLAST service.

#include <gflags/gflags.h>

#include <cstdio>

#include "neptune/base/file.h"
#include "neptune/examples/blast/protein_database.h"
#include "neptune/examples/client/caller_path.h"

DEFINE_string(input, "", "FASTA file; empty: synthetic proteins");
DEFINE_int32(synthetic, 2000, "number of synthetic proteins, in families of 20");
DEFINE_uint64(seed, 1, "seed of the synthetic proteins");
DEFINE_int32(partitions, 4, "number of partitions");
DEFINE_string(out, "data/var/blast",
              "output directory; synthetic proteins are also written, as whole.fasta");

namespace {

using neptune::examples::Protein;

constexpr size_t kInputSizeMax = size_t{4} << 30;

neptune::StatusOr<std::vector<Protein>> ReadProteins() {
  if (FLAGS_input.empty()) {
    return neptune::examples::MakeProteins(FLAGS_seed, static_cast<size_t>(FLAGS_synthetic));
  }
  NEPTUNE_ASSIGN_OR_RETURN(
      const std::string text,
      neptune::ReadFile(neptune::examples::CallerPath(FLAGS_input), kInputSizeMax));
  return neptune::examples::ParseFasta(text);
}

neptune::Status Split() {
  NEPTUNE_ASSIGN_OR_RETURN(const std::vector<Protein> proteins, ReadProteins());
  const std::string folder = neptune::examples::CallerPath(FLAGS_out);
  NEPTUNE_RETURN_IF_ERROR(neptune::examples::WritePartitions(
      proteins, static_cast<uint32_t>(FLAGS_partitions), folder));
  std::string whole;
  for (const Protein& protein : proteins) whole += neptune::examples::ToFasta(protein);
  if (FLAGS_input.empty()) {
    NEPTUNE_RETURN_IF_ERROR(neptune::WriteFileAtomically(folder + "/whole.fasta", whole));
  }
  std::printf("%zu sequences in %d partitions in %s\n", proteins.size(), FLAGS_partitions,
              folder.c_str());
  return neptune::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  gflags::SetUsageMessage("splits a protein database into the partitions of the BLAST service");
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (FLAGS_partitions < 1 || FLAGS_partitions > 1024 || FLAGS_synthetic < 1) {
    std::fprintf(stderr, "--partitions must be 1 to 1024 and --synthetic at least 1\n");
    return 2;
  }
  const neptune::Status status = Split();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

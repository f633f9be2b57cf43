#include "neptune/examples/blast/blast_module.h"

#include "neptune/base/strings.h"
#include "neptune/examples/blast/blast_aggregation.h"
#include "neptune/examples/blast/blast_hits.h"
#include "neptune/examples/blast/protein_database.h"
#include "neptune/service/parameter_table.h"
#include "neptune/thread/user_thread.h"

namespace neptune::examples {
namespace {

constexpr Duration kIndexTimeout = std::chrono::minutes(30);

}  // namespace

void BlastModule::DeclareParameters(ParameterTable& table) {
  table.RequiredText("path", &path_,
                     "the directory that split_fasta wrote; without spaces, because blastp would "
                     "take it for a list");
  table.Text("blastp", &blastp_, "the program that searches, a path or a name in PATH");
  table.Text("makeblastdb", &makeblastdb_,
             "the program that builds a database, a path or a name in PATH");
}

Status BlastModule::Start(ModuleContext& context) {
  std::string folder = path_;
  if (!folder.starts_with('/')) folder = StrCat(context.base_directory, "/", folder);
  if (folder.find(' ') != std::string::npos) {
    return InvalidArgument("parameter path '", folder, "' contains a space");
  }
  NEPTUNE_ASSIGN_OR_RETURN(letter_count_, ReadLetterCount(folder));
  for (const PartitionId& partition : context.partitions) {
    NEPTUNE_RETURN_IF_ERROR(Index(partition, folder, context));
  }
  context.registrar.Method(MethodName(kBlastMethod), {.grain = Grain::kLong},
                           [this](RequestContext& request, const Data& in, Data* out) {
                             return Search(request, in, out);
                           });
  RegisterBlastReduce(context);
  return OkStatus();
}

Status BlastModule::Index(PartitionId partition, const std::string& folder,
                          const ModuleContext& context) {
  const std::string database = StrCat(folder, "/", context.node, "-p", partition);
  databases_[partition] = database;
  return processes_
      .Run({makeblastdb_,
            {"-in", PartitionPath(folder, partition.value()), "-dbtype", "prot", "-out", database,
             "-blastdb_version", "4"},
            ""},
           this_thread::Now() + kIndexTimeout)
      .status();
}

// blastp keeps more hits than any answer has, so that the final cut uses one order. Only the best
// hit of each subject is requested.
Status BlastModule::Search(RequestContext& context, const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const BlastQuery* const query, request.As<BlastQuery>());
  NEPTUNE_RETURN_IF_ERROR(ValidateBlastQuery(*query));
  NEPTUNE_ASSIGN_OR_RETURN(
      const std::string table,
      processes_.Run(context, {blastp_,
                               {"-db", databases_.at(context.partition()), "-query", "-", "-outfmt",
                                kBlastTableFormat, "-dbsize", StrCat(letter_count_), "-evalue",
                                StrCat(query->evalue_max()), "-max_target_seqs",
                                StrCat(kBlastHitCountMax), "-max_hsps", "1"},
                               ToFasta({"query", query->sequence()})}));
  NEPTUNE_ASSIGN_OR_RETURN(BlastHits hits, ParseBlastTable(table));
  KeepBestHits(query->hit_count_max(), &hits);
  *response = Data::Of(std::move(hits));
  return OkStatus();
}

}  // namespace neptune::examples

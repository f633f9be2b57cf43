// BLAST as a service: NCBI's unmodified blastp searches each partition of a protein database.
//
//   Search   long, local operator: BlastQuery → BlastHits of the partition
//
// Source: [Chu03] 5.1 (BLAST), 4.3 footnote 3 (a process executes the request).
// Real world only, like the programs.
// Threads: see ServiceModule.
// Errors: Start: those of reading the directory, and of makeblastdb. Search: kInvalidArgument;
//   those of neptune/service/process/attached_process.h, of which a crash is kInternal and harms no
//   other request.

#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "neptune/service/process/attached_process.h"
#include "neptune/service/service_module.h"

namespace neptune::examples {

inline constexpr char kBlastMethod[] = "Search";

class BlastModule final : public ServiceModule {
 public:
  void DeclareParameters(ParameterTable& table) override;
  Status Start(ModuleContext& context) override;
  std::string implementation() const override { return "ncbi_blastp"; }

 private:
  // Runs makeblastdb on the partition's sequences, for this node only.
  Status Index(PartitionId partition, const std::string& folder, const ModuleContext& context);
  Status Search(RequestContext& context, const Data& request, Data* response);

  // Parameters, fixed before Start.
  std::string path_;
  std::string blastp_ = "blastp";
  std::string makeblastdb_ = "makeblastdb";

  uint64_t letter_count_ = 0;                     // total of the whole database; fixed after Start
  std::map<PartitionId, std::string> databases_;  // paths; fixed after Start
  AttachedProcesses processes_;
};

}  // namespace neptune::examples

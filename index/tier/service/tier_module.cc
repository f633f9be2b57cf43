#include "index/tier/service/tier_module.h"

#include <glog/logging.h>

#include <filesystem>

#include "index/tier/operators.h"
#include "index/tier/registry.h"
#include "index/tier/tier.pb.h"
#include "index/tier/tier_service.h"
#include "neptune/base/strings.h"

namespace search::index {

using neptune::Data;
using neptune::ModuleContext;
using neptune::PartitionId;
using neptune::RequestContext;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

namespace {

// The reduce operator; `parameters` are the query, which says how many hits are wanted.
Status Reduce(const Data& first, const Data& second, const Data& parameters, Data* result) {
  NEPTUNE_ASSIGN_OR_RETURN(const TierAnswer* const a, first.As<TierAnswer>());
  NEPTUNE_ASSIGN_OR_RETURN(const TierAnswer* const b, second.As<TierAnswer>());
  NEPTUNE_ASSIGN_OR_RETURN(const TierQuery* const query, parameters.As<TierQuery>());
  *result = Data::Of(MergeTierAnswers(*a, *b, query->hit_count_max()));
  return neptune::OkStatus();
}

}  // namespace

Status TierModule::Start(ModuleContext& context) {
  const auto path = context.parameters.find("path");
  if (path == context.parameters.end()) {
    return neptune::InvalidArgument("an index tier needs the parameter 'path'");
  }
  const std::string wanted = context.parameters["implementation"];
  const std::filesystem::path root = std::filesystem::path(context.base_directory) / path->second;
  for (const PartitionId& partition : context.partitions) {
    Partition opened = Open((root / StrCat(partition)).string(), wanted);
    LOG_IF(ERROR, !opened.status.ok())
        << context.service << "/" << partition << " is not served: " << opened.status;
    if (opened.status.ok()) implementation_ = opened.tier->Info().implementation;
    partitions_.emplace(partition, std::move(opened));
  }
  context.registrar.Method(neptune::MethodName(kTierSearchMethod), {.grain = neptune::Grain::kLong},
                           [this](RequestContext& request, const Data& query, Data* answer) {
                             return Search(request, query, answer);
                           });
  context.registrar.Reduce(neptune::MethodName(kTierReduceOperator), Reduce);
  return AddStatus(context);
}

TierModule::Partition TierModule::Open(const std::string& directory, const std::string& wanted) {
  StatusOr<std::string> variant = wanted.empty() ? DetectIndexTier(directory) : wanted;
  if (!variant.ok()) return {variant.status(), nullptr};
  StatusOr<std::unique_ptr<IndexTier>> tier = OpenIndexTier(*variant, directory);
  if (!tier.ok()) return {tier.status(), nullptr};
  return {neptune::OkStatus(), *std::move(tier)};
}

Status TierModule::Health(PartitionId partition) {
  const auto found = partitions_.find(partition);
  return found == partitions_.end() ? neptune::NotFound("partition ", partition)
                                    : found->second.status;
}

Status TierModule::Search(RequestContext& context, const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const TierQuery* const query, request.As<TierQuery>());
  const Partition& partition = partitions_.at(context.partition());
  if (!partition.status.ok()) {
    return neptune::Unavailable("partition ", context.partition(),
                                " is not served: ", partition.status.message());
  }
  TierSearchControl control;
  control.deadline = context.deadline();
  control.now = [&] { return context.Now(); };
  control.stop = [&] { return context.ShouldStop(); };
  NEPTUNE_ASSIGN_OR_RETURN(TierAnswer answer, LocalOperator(*partition.tier, *query, control));
  *response = Data::Of(std::move(answer));
  return neptune::OkStatus();
}

Status TierModule::AddStatus(ModuleContext& context) {
  NEPTUNE_ASSIGN_OR_RETURN(
      section_, context.status.Add(StrCat("index ", context.service), [this](auto* report) {
        neptune::StatusTable table{
            "Partitions", {"partition", "implementation", "version", "documents", "state"}, {}};
        for (const auto& [id, partition] : partitions_) {
          const TierInfo info = partition.tier == nullptr ? TierInfo() : partition.tier->Info();
          table.AddRow(
              id.value(), info.implementation, info.index_version, info.document_count,
              partition.status.ok() ? std::string("serving") : partition.status.ToString());
        }
        report->tables.push_back(std::move(table));
      }));
  return neptune::OkStatus();
}

}  // namespace search::index

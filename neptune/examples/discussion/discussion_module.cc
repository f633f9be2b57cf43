#include "neptune/examples/discussion/discussion_module.h"

#include <utility>

#include "neptune/examples/discussion/discussion_store.h"
#include "neptune/service/parameter_table.h"

namespace neptune::examples {
namespace {

StatusOr<AddMsgRequest> ParseAdd(std::string_view bytes) {
  AddMsgRequest request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return InvalidArgument("payload (", bytes.size(), " bytes) is not a valid ",
                           request.GetTypeName());
  }
  return request;
}

}  // namespace

void DiscussionModule::DeclareParameters(ParameterTable& table) {
  table.Whole("group_count", {1, kGroupCountMax}, &group_count_,
              "groups, numbered from 0; the same on every node");
  table.Whole("partition_count", {.min = 1}, &partition_count_,
              "partitions of the service; groups of other partitions are refused");
  read_work_.DeclareParameter(table, "read_work_us");
  write_work_.DeclareParameter(table, "write_work_us");
}

Status DiscussionModule::Start(ModuleContext& context) {
  read_work_.Start(context);
  write_work_.Start(context);
  service_ = std::make_unique<ReplicatedService>(context);
  Read(kViewHeadersMethod, ReadHeaders);
  Read(kViewMsgMethod, ReadMessage);
  Add();
  return service_->Open();
}

Status DiscussionModule::CheckGroup(uint64_t group, PartitionId partition) const {
  if (group >= group_count_) return NotFound("no group ", group);
  if (group % partition_count_ == partition.value()) return OkStatus();
  return InvalidArgument("group ", group, " is in partition ", group % partition_count_, ", not ",
                         partition);
}

template <typename Request, typename Answer>
void DiscussionModule::Read(const char* method,
                            StatusOr<Answer> (*read)(const StoreView&, const Request&)) {
  service_->Read(MethodName(method), {.grain = Grain::kLong},
                 [this, read](const StoreView& store, RequestContext& context, const Data& request,
                              Data* response) {
                   NEPTUNE_ASSIGN_OR_RETURN(const auto* const asked, request.As<Request>());
                   NEPTUNE_RETURN_IF_ERROR(CheckGroup(asked->group_id(), context.partition()));
                   read_work_.Use(asked->work_seed());
                   NEPTUNE_ASSIGN_OR_RETURN(Answer answer, read(store, *asked));
                   *response = Data::Of(std::move(answer));
                   return OkStatus();
                 });
}

void DiscussionModule::Add() {
  service_->Write(MethodName(kAddMsgMethod),
                  [this](const WriteContext& write, std::string_view bytes, std::string* response) {
                    NEPTUNE_ASSIGN_OR_RETURN(const AddMsgRequest request, ParseAdd(bytes));
                    NEPTUNE_RETURN_IF_ERROR(CheckGroup(request.group_id(), write.partition));
                    NEPTUNE_ASSIGN_OR_RETURN(const AddMsgResult result, AddMessage(write, request));
                    *response = result.SerializeAsString();
                    return OkStatus();
                  });
  service_->BeforeWrite([this](const LogEntry& entry) {
    const auto request = ParseAdd(entry.payload);
    if (request.ok()) write_work_.Use(request->work_seed());
  });
}

}  // namespace neptune::examples

// The discussion group: threads of messages in groups, replicated.
//
//   ViewHeaders   ViewHeadersRequest → MessageHeaders
//   ViewMsg       ViewMsgRequest → DiscussionMessage
//   AddMsg        AddMsgRequest → AddMsgResult; a write
//
// Group g is in partition g % partition count.
//
// Every replica does the modelled work of a write.
//
// Source: [Shen02] 5.3.
// Threads: see ServiceModule.
// Errors: those of discussion_store.h; kNotFound no such group; kInvalidArgument a group of another
//   partition, a malformed request.
// Limits: kGroupCountMax groups; discussion_store.h.

#pragma once

#include <memory>
#include <string>

#include "neptune/examples/modelled_work/modelled_work.h"
#include "neptune/replication/agent/replicated_service.h"
#include "neptune/service/service_module.h"

namespace neptune::examples {

inline constexpr char kViewHeadersMethod[] = "ViewHeaders";
inline constexpr char kViewMsgMethod[] = "ViewMsg";
inline constexpr char kAddMsgMethod[] = "AddMsg";
inline constexpr uint64_t kGroupCountMax = 1'000'000;

class DiscussionModule final : public ServiceModule {
 public:
  void DeclareParameters(ParameterTable& table) override;
  Status Start(ModuleContext& context) override;
  Status Health(PartitionId partition) override { return service_->Health(partition); }
  std::string implementation() const override { return "discussion"; }
  void Stop() override { service_.reset(); }

 private:
  // Returns OK if the group exists and is in this partition.
  Status CheckGroup(uint64_t group, PartitionId partition) const;
  // Registers `read` as a method that reads the store.
  template <typename Request, typename Answer>
  void Read(const char* method,
            StatusOr<Answer> (*read)(const StoreView& store, const Request& request));
  void Add();

  // Parameters, fixed before Start.
  uint64_t group_count_ = 100;
  uint64_t partition_count_ = 1;
  ModelledWork read_work_;
  ModelledWork write_work_;
  std::unique_ptr<ReplicatedService> service_;
};

}  // namespace neptune::examples

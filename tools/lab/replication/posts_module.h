// Discussion groups with unordered messages, for level 1, where every replica accepts writes.
//
// Methods, requests, answers and modelled work are those of neptune/examples/discussion, with these
// differences:
//
//   - The number of a message is derived from the name of its write, so that it is the same on all
//     replicas, whatever the order of execution.
//   - The headers of a group are ordered by number, without depth.
//   - The message replied to is recorded and may be missing, because it may arrive later.
//   - The time of posting is not stored, because a write that two replicas accepted has two such
//     times.
//   - Groups are not checked against a number of groups and partitions, so neither is a parameter.
//
//   key              value
//   h GROUP NUMBER   MessageHeader
//   m GROUP NUMBER   StoredMessage, without a path
//   g GROUP          StoredGroup, a count
//
// Source: [Shen02] 5.2.1 (level 1 is for commutative writes), 5.4.1. The paper does not describe
//   how the writes of its group commute.
// Threads: see ServiceModule.
// Errors: kInvalidArgument a write without a name, malformed requests; kNotFound no such message.
// Limits: kHeaderCountMax headers per answer.

#pragma once

#include <memory>
#include <string>

#include "neptune/examples/discussion/discussion.pb.h"
#include "neptune/examples/modelled_work/modelled_work.h"
#include "neptune/replication/agent/replicated_service.h"
#include "neptune/service/service_module.h"

namespace search::lab {

class PostsModule final : public neptune::ServiceModule {
 public:
  void DeclareParameters(neptune::ParameterTable& table) override;
  neptune::Status Start(neptune::ModuleContext& context) override;
  neptune::Status Health(neptune::PartitionId partition) override {
    return service_->Health(partition);
  }
  std::string implementation() const override { return "posts"; }
  void Stop() override { service_.reset(); }

 private:
  template <typename Request, typename Answer>
  void Read(const char* method, neptune::StatusOr<Answer> (*read)(const neptune::StoreView& store,
                                                                  const Request& request));
  void Add();

  neptune::examples::ModelledWork read_work_;
  neptune::examples::ModelledWork write_work_;
  std::unique_ptr<neptune::ReplicatedService> service_;
};

}  // namespace search::lab

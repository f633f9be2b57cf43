// Discussion groups whose messages have no order: what a group is where every replica takes writes (level 1).
//
// Methods, requests, answers, parameters and modelled work are those of neptune/examples/discussion, but
//
//   a message's number follows from the name of the write that added it, so that it is the same on all replicas, in whatever
//   order they execute; a group's headers stand in the order of their numbers, with no depth; and what a message replies to
//   is noted and need not be there, for it may arrive later. Nor is it kept when it was posted: a write that two replicas took
//   has two such times.
//
//   h GROUP NUMBER   MessageHeader     m GROUP NUMBER   StoredMessage, without a path     g GROUP   StoredGroup, a count
//
// Source: [Shen02] 5.2.1 (level 1 is for commutative writes), 5.4.1. The paper does not say how its group commutes.
// Threads: as ServiceModule says.
// Errors: kInvalidArgument a write without a name, malformed requests; kNotFound no such message.
// Limits: kHeaderCountMax headers an answer.

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

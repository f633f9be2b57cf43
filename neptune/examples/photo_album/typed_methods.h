// Methods of a replicated service whose requests and answers are Protobuf messages.
//
// Threads: see ReplicatedService.
// Errors: kInvalidArgument the request is not a valid message; those of the function.

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "neptune/base/status.h"
#include "neptune/replication/agent/replicated_service.h"

namespace neptune::examples::photo_album {

template <typename Request, typename Answer>
using TypedRead =
    std::function<StatusOr<Answer>(const StoreView&, RequestContext&, const Request&)>;
template <typename Request, typename Answer>
using TypedWrite = std::function<StatusOr<Answer>(const WriteContext&, const Request&)>;

template <typename Request, typename Answer>
void AddRead(ReplicatedService& service, const char* method, TypedRead<Request, Answer> read) {
  service.Read(MethodName(method), {.grain = Grain::kLong},
               [read = std::move(read)](const StoreView& store, RequestContext& context,
                                        const Data& request, Data* response) {
                 NEPTUNE_ASSIGN_OR_RETURN(const auto* const asked, request.As<Request>());
                 NEPTUNE_ASSIGN_OR_RETURN(Answer answer, read(store, context, *asked));
                 *response = Data::Of(std::move(answer));
                 return OkStatus();
               });
}

template <typename Request, typename Answer>
void AddWrite(ReplicatedService& service, const char* method, TypedWrite<Request, Answer> write) {
  service.Write(MethodName(method),
                [write = std::move(write)](const WriteContext& context, std::string_view bytes,
                                           std::string* response) {
                  Request request;
                  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
                    return InvalidArgument("payload (", bytes.size(), " bytes) is not a valid ",
                                           request.GetTypeName());
                  }
                  NEPTUNE_ASSIGN_OR_RETURN(const Answer answer, write(context, request));
                  *response = answer.SerializeAsString();
                  return OkStatus();
                });
}

}  // namespace neptune::examples::photo_album

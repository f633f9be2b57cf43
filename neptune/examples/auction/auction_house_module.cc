#include "neptune/examples/auction/auction_house_module.h"

#include <string_view>
#include <type_traits>
#include <utility>

#include "neptune/examples/auction/auction_house_store.h"
#include "neptune/service/parameter_table.h"

namespace neptune::examples::auction_house {
namespace {

template <typename Request>
StatusOr<Request> Parse(std::string_view bytes) {
  Request request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return InvalidArgument("payload (", bytes.size(), " bytes) is not a valid ",
                           request.GetTypeName());
  }
  return request;
}

}  // namespace

void AuctionHouseModule::DeclareParameters(ParameterTable& table) {
  table.Whole("category_count", {1, kCategoryCountMax}, &category_count_,
              "categories, numbered from 0; the same on every node");
  table.Whole("partition_count", {.min = 1}, &partition_count_,
              "partitions of the service; categories of other partitions are refused");
  read_work_.DeclareParameter(table, "read_work_us");
  add_work_.DeclareParameter(table, "add_work_us");
  bid_work_.DeclareParameter(table, "bid_work_us");
}

Status AuctionHouseModule::Start(ModuleContext& context) {
  read_work_.Start(context);
  add_work_.Start(context);
  bid_work_.Start(context);
  service_ = std::make_unique<ReplicatedService>(context);
  Read(kViewCategoriesMethod, ReadCategories);
  Read(kViewCategoryMethod, ReadCategory);
  Read(kViewItemMethod, ReadItem);
  Write(kAddItemMethod, AddItem);
  Write(kBidItemMethod, BidItem);
  service_->BeforeWrite([this](const LogEntry& entry) { UseWriteWork(entry); });
  return service_->Open();
}

Status AuctionHouseModule::CheckCategory(uint64_t category, PartitionId partition) const {
  if (category >= category_count_) return NotFound("no category ", category);
  if (category % partition_count_ == partition.value()) return OkStatus();
  return InvalidArgument("category ", category, " is in partition ", category % partition_count_,
                         ", not ", partition);
}

template <typename Request, typename Answer>
void AuctionHouseModule::Read(const char* method,
                              StatusOr<Answer> (*read)(const StoreView&, const Request&)) {
  service_->Read(
      MethodName(method), {.grain = Grain::kLong},
      [this, read](const StoreView& store, RequestContext& context, const Data& request,
                   Data* response) {
        NEPTUNE_ASSIGN_OR_RETURN(const auto* const asked, request.As<Request>());
        if constexpr (!std::is_same_v<Request, ViewCategoriesRequest>) {
          NEPTUNE_RETURN_IF_ERROR(CheckCategory(asked->category_id(), context.partition()));
        }
        read_work_.Use(asked->work_seed());
        NEPTUNE_ASSIGN_OR_RETURN(Answer answer, read(store, *asked));
        *response = Data::Of(std::move(answer));
        return OkStatus();
      });
}

template <typename Request, typename Answer>
void AuctionHouseModule::Write(const char* method,
                               StatusOr<Answer> (*write)(const WriteContext&, const Request&)) {
  service_->Write(MethodName(method), [this, write](const WriteContext& context,
                                                    std::string_view bytes, std::string* response) {
    NEPTUNE_ASSIGN_OR_RETURN(const Request request, Parse<Request>(bytes));
    NEPTUNE_RETURN_IF_ERROR(CheckCategory(request.category_id(), context.partition));
    NEPTUNE_ASSIGN_OR_RETURN(const Answer answer, write(context, request));
    *response = answer.SerializeAsString();
    return OkStatus();
  });
}

void AuctionHouseModule::UseWriteWork(const LogEntry& entry) const {
  if (entry.method == MethodName(kBidItemMethod)) {
    const auto request = Parse<BidItemRequest>(entry.payload);
    if (request.ok()) bid_work_.Use(request->work_seed());
  } else {
    const auto request = Parse<AddItemRequest>(entry.payload);
    if (request.ok()) add_work_.Use(request->work_seed());
  }
}

}  // namespace neptune::examples::auction_house

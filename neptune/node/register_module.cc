#include "neptune/node/register_module.h"

#include "neptune/base/strings.h"

namespace neptune {
namespace {

Status Append(const WriteContext& write, std::string_view request, std::string* response) {
  const size_t equals = request.find('=');
  if (equals == std::string_view::npos) return InvalidArgument("no '=' in the request");
  const std::string_view key = request.substr(0, equals);
  const std::string_view text = request.substr(equals + 1);
  if (text == "refuse") return InvalidArgument("the data refuse it");
  NEPTUNE_ASSIGN_OR_RETURN(const auto value, write.store.Get(key));
  *response = StrCat(value.value_or(""), text);
  write.changes.Put(key, *response);
  return OkStatus();
}

Status Get(const StoreView& store, RequestContext&, const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto value, store.Get(request.bytes()));
  *response = Data(value.value_or(""));
  return OkStatus();
}

}  // namespace

Status RegisterModule::Start(ModuleContext& context) {
  service_ = std::make_unique<ReplicatedService>(context);
  service_->Write(MethodName("Append"), Append);
  service_->Read(MethodName("Get"), {}, Get);
  return service_->Open();
}

}  // namespace neptune

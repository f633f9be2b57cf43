#include "neptune/node/register_module.h"

#include <algorithm>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

std::string Appended(std::string value, std::string_view text) { return value.append(text); }

// Returns the position of the first text that is not smaller.
std::string Inserted(std::string value, std::string_view text) {
  size_t begin = 0;
  while (begin < value.size()) {
    const size_t end = std::min(value.find(';', begin), value.size() - 1) + 1;
    if (std::string_view(value).substr(begin, end - begin) >= text) break;
    begin = end;
  }
  return value.insert(begin, text);
}

// Returns a write that computes the new value from the old one and a text.
WriteFunction Changing(std::string (*change)(std::string value, std::string_view text)) {
  return [change](const WriteContext& write, std::string_view request, std::string* response) {
    const size_t equals = request.find('=');
    if (equals == std::string_view::npos) return InvalidArgument("no '=' in the request");
    const std::string_view key = request.substr(0, equals);
    const std::string_view text = request.substr(equals + 1);
    if (text == "refuse") return InvalidArgument("the data refuse it");
    NEPTUNE_ASSIGN_OR_RETURN(const auto value, write.store.Get(key));
    *response = change(value.value_or(""), text);
    write.changes.Put(key, *response);
    return OkStatus();
  };
}

Status Get(const StoreView& store, RequestContext&, const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto value, store.Get(request.bytes()));
  *response = Data(value.value_or(""));
  return OkStatus();
}

}  // namespace

Status RegisterModule::Start(ModuleContext& context) {
  service_ = std::make_unique<ReplicatedService>(context);
  service_->Write(MethodName("Append"), Changing(Appended));
  service_->Write(MethodName("Insert"), Changing(Inserted));
  service_->Read(MethodName("Get"), {}, Get);
  return service_->Open();
}

}  // namespace neptune

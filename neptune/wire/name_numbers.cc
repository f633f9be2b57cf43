#include "neptune/wire/name_numbers.h"

#include <utility>

namespace neptune {
namespace {

bool Fits(size_t count, size_t size, size_t more) {
  return count < kNameNumberCountMax && size + more <= kNameSizeMax;
}

}  // namespace

std::optional<NameNumber> SentNames::NumberOf(const ServiceName& service, const MethodName& method,
                                              std::string_view service_class) {
  const auto is_at = [&](size_t number) {
    const RequestNames& names = names_[number];
    return names.method == method && names.service == service &&
           names.service_class == service_class;
  };
  if (last_ < names_.size() && is_at(last_)) return NameNumber{static_cast<uint16_t>(last_)};
  for (size_t number = 0; number < names_.size(); ++number) {
    if (!is_at(number)) continue;
    last_ = number;
    return NameNumber{static_cast<uint16_t>(number)};
  }
  RequestNames names{service, method, std::string(service_class)};
  if (!Fits(names_.size(), size_, names.size())) return std::nullopt;
  size_ += names.size();
  last_ = names_.size();
  names_.push_back(std::move(names));
  return NameNumber{static_cast<uint16_t>(last_), /*is_new=*/true};
}

Status ReceivedNames::Define(uint16_t number, RequestNames names) {
  if (const RequestNames* const known = Find(number)) {
    if (*known == names) return OkStatus();
    return DataLoss("number ", number, " already stands for other names");
  }
  if (number != names_.size()) {
    return DataLoss("number ", number, " is defined after ", names_.size(), " others");
  }
  if (!Fits(names_.size(), size_, names.size())) {
    return DataLoss("number ", number, " is over the limit of names of a connection");
  }
  size_ += names.size();
  names_.push_back({std::move(names), {}});
  return OkStatus();
}

}  // namespace neptune

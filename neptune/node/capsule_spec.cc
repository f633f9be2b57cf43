#include "neptune/node/capsule_spec.h"

#include <google/protobuf/descriptor.h>

#include <charconv>
#include <set>
#include <string_view>

#include "neptune/base/strings.h"
#include "neptune/capsule/capsule_text.h"

namespace neptune {
namespace {

using google::protobuf::FieldDescriptor;

// The shortest text that is this number; the reader of the text refuses times of more than six
// decimals.
std::string NumberText(double number) {
  char text[512];
  const auto end = std::to_chars(text, text + sizeof(text), number, std::chars_format::fixed).ptr;
  return std::string(text, end);
}

void AddField(const CapsuleSpec& spec, const FieldDescriptor& field,
              std::vector<CapsuleField>* fields) {
  const google::protobuf::Reflection& reflection = *spec.GetReflection();
  const std::string& name = field.name();
  if (field.is_repeated()) {
    for (int i = 0; i < reflection.FieldSize(spec, &field); ++i) {
      fields->push_back({name, reflection.GetRepeatedString(spec, &field, i)});
    }
  } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_UINT32) {
    fields->push_back({name, StrCat(reflection.GetUInt32(spec, &field))});
  } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
    fields->push_back({name, NumberText(reflection.GetDouble(spec, &field))});
  } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    fields->push_back({name, reflection.GetString(spec, &field)});
  }
}

StatusOr<CapsuleConfig> CapsuleOf(const CapsuleSpec& spec, const std::string& folder) {
  if (spec.no_timeout() && spec.has_timeout_ms()) {
    return InvalidArgument("no_timeout and timeout_ms exclude each other");
  }
  std::vector<const FieldDescriptor*> set;
  spec.GetReflection()->ListFields(spec, &set);
  std::vector<CapsuleField> fields;
  for (const FieldDescriptor* const field : set) {
    if (field->name() != "name") AddField(spec, *field, &fields);
  }
  if (spec.no_timeout()) fields.push_back({"timeout_ms", "none"});
  return CapsuleOfFields(spec.name(), fields, folder);
}

}  // namespace

StatusOr<std::vector<CapsuleConfig>> CapsulesOfSpec(const CapsuleSpecs& specs,
                                                    const std::string& folder, int* index) {
  std::vector<CapsuleConfig> capsules;
  std::set<std::string> names;
  for (int i = 0; i < specs.size(); ++i) {
    const std::string where = StrCat("capsule '", specs[i].name(), "'");
    if (index != nullptr) *index = i;
    if (capsules.size() == kCapsuleCountMax) {
      return InvalidArgument("more than ", kCapsuleCountMax, " capsules");
    }
    if (!names.insert(specs[i].name()).second) return InvalidArgument(where, " is defined twice");
    StatusOr<CapsuleConfig> capsule = CapsuleOf(specs[i], folder);
    if (!capsule.ok()) return Annotate(capsule.status(), where);
    capsules.push_back(*std::move(capsule));
  }
  return capsules;
}

}  // namespace neptune

#include "neptune/base/text_config.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <algorithm>

#include "neptune/base/file.h"

namespace neptune {
namespace {

constexpr size_t kErrorsShownMax = 5;

class ErrorLines : public google::protobuf::io::ErrorCollector {
 public:
  explicit ErrorLines(std::string_view file) : file_(file) {}

  // Protobuf counts from 0 and passes -1 for errors that concern the whole message.
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    if (++count_ > kErrorsShownMax) return;
    if (count_ > 1) text_ += '\n';
    StrAppend(&text_, file_, ":", std::max(line, 0) + 1, ":", std::max(column, 0) + 1, ": ",
              message);
  }

  Status ToStatus() const {
    const size_t hidden_count = count_ - std::min(count_, kErrorsShownMax);
    if (hidden_count == 0) return InvalidArgument(text_);
    return InvalidArgument(text_, "\n", file_, ": ", hidden_count, " more errors");
  }

 private:
  const std::string_view file_;
  std::string text_;
  size_t count_ = 0;
};

// Returns the 1-based lines of the outermost fields that are set.
std::map<std::string, std::vector<int>, std::less<>> LinesOfFields(
    const google::protobuf::Message& message,
    const google::protobuf::TextFormat::ParseInfoTree& places) {
  std::map<std::string, std::vector<int>, std::less<>> lines;
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const auto* field : fields) {
    const int count = field->is_repeated() ? message.GetReflection()->FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      const int index = field->is_repeated() ? i : -1;
      lines[field->name()].push_back(places.GetLocation(field, index).line + 1);
    }
  }
  return lines;
}

}  // namespace

Status ParseTextConfig(std::string_view text, std::string_view file,
                       google::protobuf::Message* message, TextLocations* locations) {
  message->Clear();
  if (text.size() > kTextConfigSizeMax) {
    return InvalidArgument(file, ":1:1: more than ", kTextConfigSizeMax, " bytes");
  }
  ErrorLines errors(file);
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.SetRecursionLimit(kTextConfigDepthMax);
  google::protobuf::TextFormat::ParseInfoTree places;
  parser.WriteLocationsTo(&places);
  google::protobuf::io::ArrayInputStream input(text.data(), static_cast<int>(text.size()));
  if (parser.Parse(&input, message)) {
    if (locations != nullptr) locations->lines_ = LinesOfFields(*message, places);
    return OkStatus();
  }
  message->Clear();
  return errors.ToStatus();
}

int TextLocations::LineOf(std::string_view field, int index) const {
  const auto found = lines_.find(field);
  if (found == lines_.end() || static_cast<size_t>(index) >= found->second.size()) return 0;
  return found->second[static_cast<size_t>(index)];
}

Status LoadTextConfig(const std::string& path, google::protobuf::Message* message,
                      TextLocations* locations) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kTextConfigSizeMax));
  return ParseTextConfig(text, path, message, locations);
}

}  // namespace neptune

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

  // Protobuf counts from 0, and says -1 for what concerns the whole message.
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

}  // namespace

Status ParseTextConfig(std::string_view text, std::string_view file,
                       google::protobuf::Message* message) {
  message->Clear();
  if (text.size() > kTextConfigSizeMax) {
    return InvalidArgument(file, ":1:1: more than ", kTextConfigSizeMax, " bytes");
  }
  ErrorLines errors(file);
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.SetRecursionLimit(kTextConfigDepthMax);
  google::protobuf::io::ArrayInputStream input(text.data(), static_cast<int>(text.size()));
  if (parser.Parse(&input, message)) return OkStatus();
  message->Clear();
  return errors.ToStatus();
}

Status LoadTextConfig(const std::string& path, google::protobuf::Message* message) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kTextConfigSizeMax));
  return ParseTextConfig(text, path, message);
}

}  // namespace neptune

// Configuration files: a Protobuf message in text format; errors name file, line and column.
//
// Threads: pure functions; LoadTextConfig reads a file and so blocks.
// Errors: INVALID_ARGUMENT "FILE:LINE:COLUMN: reason" (1-based, as compilers count), one line for
//   each of the first few mistakes: syntax, unknown fields and enum names, values out of range,
//   fields set twice, required fields missing. LoadTextConfig also: the errors of ReadFile.
// Limits: kTextConfigSizeMax bytes, kTextConfigDepthMax nested messages.

#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"

namespace google::protobuf {
class Message;
}

namespace neptune {

inline constexpr size_t kTextConfigSizeMax = 4u << 20;
inline constexpr int kTextConfigDepthMax = 50;

// Where the fields of the outermost message stood in the text.
class TextLocations {
 public:
  // Line of the field, counted from 1; of a repeated one, of its element `index`. 0 if it was not there.
  int LineOf(std::string_view field, int index = 0) const;

 private:
  friend Status ParseTextConfig(std::string_view text, std::string_view file,
                                google::protobuf::Message* message, TextLocations* locations);
  std::map<std::string, std::vector<int>, std::less<>> lines_;
};

// Parses `text` into `message`, which is cleared first; `file` stands in the messages. After an
// error the message is empty.
Status ParseTextConfig(std::string_view text, std::string_view file,
                       google::protobuf::Message* message, TextLocations* locations = nullptr);

// The same with the contents of the file.
Status LoadTextConfig(const std::string& path, google::protobuf::Message* message,
                      TextLocations* locations = nullptr);

}  // namespace neptune

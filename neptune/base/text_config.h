// Configuration files: a Protobuf message in text format. Errors name file, line and column.
//
// Threads: pure functions; LoadTextConfig reads a file and therefore blocks.
// Errors: INVALID_ARGUMENT "FILE:LINE:COLUMN: reason" (1-based, as compilers count), one line for
//   each of the first few mistakes: syntax, unknown fields and enum names, values out of range,
//   fields set twice, required fields missing. LoadTextConfig also returns the errors of ReadFile.
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

// Line numbers of the fields of the outermost message.
class TextLocations {
 public:
  // Returns the 1-based line of the field, or of element `index` of a repeated field; 0 if it is
  // absent.
  int LineOf(std::string_view field, int index = 0) const;

 private:
  friend Status ParseTextConfig(std::string_view text, std::string_view file,
                                google::protobuf::Message* message, TextLocations* locations);
  std::map<std::string, std::vector<int>, std::less<>> lines_;
};

// Parses `text` into `message`, which is cleared first. `file` is the file name used in error
// messages. On error the message is empty.
Status ParseTextConfig(std::string_view text, std::string_view file,
                       google::protobuf::Message* message, TextLocations* locations = nullptr);

// Parses the contents of the file in the same way.
Status LoadTextConfig(const std::string& path, google::protobuf::Message* message,
                      TextLocations* locations = nullptr);

}  // namespace neptune

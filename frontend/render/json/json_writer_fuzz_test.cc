// For any bytes, the text that is written is valid JSON and reads back as nlohmann's JSON has it.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "frontend/render/json/json_writer.h"

namespace search::frontend {
namespace {

using Json = nlohmann::json;

void Check(std::string_view text) {
  JsonWriter json;
  {
    const JsonObject document(json);
    json.Member(text, text);
    json.Name("pieces");
    json.BeginText();
    const size_t middle = text.size() / 2;
    json.Piece(text.substr(0, middle));
    json.Piece(text.substr(middle));
    json.EndText();
  }
  const Json read = Json::parse(json.Take(), nullptr, false);
  CHECK(!read.is_discarded());
  const auto expected =
      Json::parse(Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace));
  for (const auto& [name, value] : read.items()) {
    if (name == expected.get<std::string>()) CHECK(value == expected || name == "pieces");
  }
  CHECK(read.contains(expected.get<std::string>()));
}

}  // namespace
}  // namespace search::frontend

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  search::frontend::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}

#include "frontend/api/api_document.h"

namespace search::frontend {
namespace {

constexpr std::string_view kDocument =
#include "frontend/api/openapi.json.inc"
    ;

}  // namespace

StaticFile ApiDocument() {
  return {"/openapi.json", "application/vnd.oai.openapi+json;version=3.1", kDocument};
}

}  // namespace search::frontend

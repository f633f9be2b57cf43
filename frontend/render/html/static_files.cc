#include "frontend/render/html/static_files.h"

#include <array>
#include <cstdint>
#include <string>

namespace search::frontend {
namespace {

constexpr std::string_view kStyleSheet =
#include "frontend/render/html/style.css.inc"
    ;

constexpr std::string_view kIcon =
#include "frontend/render/html/icon.svg.inc"
    ;

constexpr std::string_view kCompletionScript =
#include "frontend/render/html/completion.js.inc"
    ;

constexpr TrustedMarkup kCompletionElement(
    "<script>"
#include "frontend/render/html/completion.js.inc"
    "</script>");

constexpr std::string_view kContentSecurityPolicy =
    "default-src 'none'; script-src 'sha256-"
#include "frontend/render/html/completion.js.sha256.inc"
    "'; connect-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'";

// FNV-1a hash; it distinguishes versions of a file and is not cryptographic.
std::string HashName(std::string_view content) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : content) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string name;
  for (int shift = 60; shift >= 24; shift -= 4) name += kHex[(hash >> shift) & 15];
  return name;
}

struct Files {
  std::string style_sheet_path = "/style-" + HashName(kStyleSheet) + ".css";
  std::string icon_path = "/icon-" + HashName(kIcon) + ".svg";
  std::array<StaticFile, 2> all = {{
      {style_sheet_path, "text/css; charset=utf-8", kStyleSheet},
      {icon_path, "image/svg+xml", kIcon},
  }};
};

const Files& AllFiles() {
  static const Files* const files = new Files;
  return *files;
}

}  // namespace

std::string_view StyleSheetPath() { return AllFiles().style_sheet_path; }
TrustedMarkup CompletionScript() { return kCompletionElement; }
std::string_view CompletionScriptText() { return kCompletionScript; }
std::string_view ContentSecurityPolicy() { return kContentSecurityPolicy; }
std::string_view IconPath() { return AllFiles().icon_path; }
std::span<const StaticFile> StaticFiles() { return AllFiles().all; }

}  // namespace search::frontend

// Writes every sample page and the static files into a folder, for viewing in a browser.
//
// Usage: bazel run //frontend/render:preview -- FOLDER
// The links to the style sheet and the icon are made relative, so that the files open from disk.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "frontend/render/render.h"
#include "frontend/render/samples/samples.h"

namespace {

using namespace search::frontend;  // NOLINT: a main program of one file

bool WriteFile(const std::filesystem::path& path, std::string_view content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  file.close();
  if (!file) std::fprintf(stderr, "preview: cannot write %s\n", path.c_str());
  return static_cast<bool>(file);
}

std::string WithRelativeFiles(std::string body) {
  for (const StaticFile& file : StaticFiles()) {
    const size_t at = body.find("\"" + std::string(file.path) + "\"");
    if (at != std::string::npos) body.erase(at + 1, 1);
  }
  return body;
}

bool WriteAll(const std::filesystem::path& folder) {
  bool ok = true;
  for (const StaticFile& file : StaticFiles()) {
    ok &= WriteFile(folder / file.path.substr(1), file.body);
  }
  for (const auto& [name, page] : samples::AllHtmlPages()) {
    ok &= WriteFile(folder / (name + ".html"), WithRelativeFiles(page.body));
  }
  const Site site;
  const SearchAnswer answer = samples::PartialAnswer();
  for (PageFormat format : {PageFormat::kJson, PageFormat::kRss, PageFormat::kAtom}) {
    ok &= WriteFile(folder / ("partial." + std::string(FormatName(format))),
                    RenderAnswer(answer, format, site).body);
  }
  return ok & WriteFile(folder / "opensearch.xml", RenderOpenSearchDescription(site).body);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || argv[1][0] == '-') {
    std::fprintf(stderr, "usage: preview FOLDER\nwrites sample pages of the frontend there\n");
    return 2;
  }
  std::error_code error;
  std::filesystem::create_directories(argv[1], error);
  return WriteAll(argv[1]) ? 0 : 1;
}

#include <algorithm>
#include <filesystem>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "tools/lab/engine/record.h"
#include "tools/lab/engine/section.h"

namespace search::lab {

neptune::StatusOr<std::string> WriteReport(const std::string& out) {
  std::error_code error;
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(out, error)) {
    if (std::filesystem::exists(entry.path() / "section.html")) folders.push_back(entry.path());
  }
  if (folders.empty()) {
    return neptune::NotFound("no results in ", out, "; run an experiment with --out=", out,
                             " first");
  }
  std::sort(folders.begin(), folders.end());
  std::vector<Section> sections;
  for (const auto& folder : folders) {
    NEPTUNE_ASSIGN_OR_RETURN(
        std::string html, neptune::ReadFile((folder / "section.html").string(), kSectionSizeMax));
    sections.push_back({folder.filename().string(), std::move(html)});
  }
  const std::string path = out + "/report.html";
  NEPTUNE_RETURN_IF_ERROR(neptune::WriteFileAtomically(path, PageHtml(sections)));
  return path;
}

}  // namespace search::lab

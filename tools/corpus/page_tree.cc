#include "tools/corpus/page_tree.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "neptune/base/strings.h"

namespace search::tools {
namespace {

namespace fs = std::filesystem;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

std::string_view WithoutGz(std::string_view name) {
  if (name.ends_with(".gz")) name.remove_suffix(3);
  return name;
}

std::optional<PageKind> KindOf(std::string_view path) {
  const std::string_view name = WithoutGz(path.substr(path.rfind('/') + 1));
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return std::nullopt;
  const std::string_view extension = name.substr(dot + 1);
  if (extension == "html" || extension == "htm" || extension == "xhtml") return PageKind::kHtml;
  if (extension == "md" || extension == "markdown") return PageKind::kMarkdown;
  if (extension[0] >= '1' && extension[0] <= '9' && extension.size() <= 5) return PageKind::kMan;
  return std::nullopt;
}

bool MatchesAny(std::string_view path, const std::vector<std::string>& globs) {
  return std::any_of(globs.begin(), globs.end(),
                     [path](const std::string& glob) { return MatchesGlob(path, glob); });
}

bool IsWanted(std::string_view inside, PageKind kind, const PageTree& tree) {
  if (std::find(tree.kinds.begin(), tree.kinds.end(), kind) == tree.kinds.end()) return false;
  if (!tree.include.empty() && !MatchesAny(inside, tree.include)) return false;
  return !MatchesAny(inside, tree.exclude);
}

// The page of this tree that a symbolic link leads to, as a path inside the tree.
std::optional<std::string> AliasTarget(const fs::path& link, const PageTree& tree) {
  std::error_code error;
  const fs::path target = fs::read_symlink(link, error);
  if (error || target.is_absolute()) return std::nullopt;
  const fs::path inside =
      (link.parent_path() / target).lexically_normal().lexically_relative(tree.folder);
  if (inside.empty() || *inside.begin() == "..") return std::nullopt;
  return inside.string();
}

class Lister {
 public:
  Lister(const PageTree& tree, size_t tree_index, PageList* list)
      : tree_(tree), tree_index_(tree_index), list_(list) {}

  Status Run() {
    std::error_code error;
    if (!fs::is_directory(tree_.folder, error)) {
      return neptune::NotFound("no folder ", tree_.folder);
    }
    const size_t before = list_->pages.size();
    fs::recursive_directory_iterator entry(tree_.folder,
                                           fs::directory_options::skip_permission_denied, error);
    for (const fs::recursive_directory_iterator end; !error && entry != end;
         entry.increment(error)) {
      Take(*entry);
      if (list_->pages.size() > kPagesMax) {
        return neptune::ResourceExhausted(tree_.folder, " has more than ", kPagesMax, " pages");
      }
    }
    if (error) return neptune::Unavailable("listing ", tree_.folder, ": ", error.message());
    std::sort(list_->pages.begin() + static_cast<ptrdiff_t>(before), list_->pages.end(),
              [](const PageFile& a, const PageFile& b) { return a.path < b.path; });
    return neptune::OkStatus();
  }

 private:
  void Take(const fs::directory_entry& entry) {
    const std::string inside = entry.path().lexically_relative(tree_.folder).string();
    const auto kind = KindOf(inside);
    std::error_code error;
    if (!kind) return;
    if (entry.is_symlink(error)) {
      if (const auto target = AliasTarget(entry.path(), tree_)) {
        list_->aliases.push_back({InstalledPath(inside), InstalledPath(*target)});
      }
      return;
    }
    if (!entry.is_regular_file(error) || !IsWanted(inside, *kind, tree_)) return;
    list_->pages.push_back({.file = entry.path().string(),
                            .path = InstalledPath(inside),
                            .url = StrCat(tree_.url_prefix, WithoutGz(inside)),
                            .kind = *kind,
                            .tree_index = tree_index_});
  }

  std::string InstalledPath(std::string_view inside) const {
    return StrCat(tree_.path_prefix, "/", WithoutGz(inside));
  }

  const PageTree& tree_;
  const size_t tree_index_;
  PageList* const list_;
};

}  // namespace

// Keeps, for each prefix of the glob, whether it fits the part of the path seen so far.
bool MatchesGlob(std::string_view path, std::string_view glob) {
  // "**/" also matches no folder at all.
  if (glob.starts_with("**/") && MatchesGlob(path, glob.substr(3))) return true;
  std::vector<char> fits(glob.size() + 1, 0);
  const auto pass_stars = [&] {
    for (size_t i = 0; i < glob.size(); ++i) {
      if (fits[i] != 0 && glob[i] == '*') fits[i + 1] = 1;
    }
  };
  fits[0] = 1;
  pass_stars();
  for (const char c : path) {
    std::vector<char> next(glob.size() + 1, 0);
    for (size_t i = 0; i < glob.size(); ++i) {
      if (fits[i] == 0) continue;
      const bool double_star = glob[i] == '*' && ((i + 1 < glob.size() && glob[i + 1] == '*') ||
                                                  (i > 0 && glob[i - 1] == '*'));
      if (glob[i] == '*') {
        if (c != '/' || double_star) next[i] = 1;
      } else if (glob[i] == c || (glob[i] == '?' && c != '/')) {
        next[i + 1] = 1;
      }
    }
    fits.swap(next);
    pass_stars();
  }
  return fits[glob.size()] != 0;
}

StatusOr<PageList> ListPages(const std::vector<PageTree>& trees) {
  PageList list;
  for (size_t i = 0; i < trees.size(); ++i) {
    NEPTUNE_RETURN_IF_ERROR(Lister(trees[i], i, &list).Run());
  }
  return list;
}

}  // namespace search::tools

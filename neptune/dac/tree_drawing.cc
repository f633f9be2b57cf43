#include "neptune/dac/tree_drawing.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

constexpr std::string_view kGap = "  ";

struct Line {
  std::string head;  // branches and name
  std::string_view text;
};

// Width on a terminal, assuming one column per code point.
size_t Width(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// Draws depth first with an explicit stack, so that a long list causes no deep recursion.
class Drawing {
 public:
  explicit Drawing(std::span<const DrawnServer> servers)
      : servers_(servers), children_(servers.size()), is_drawn_(servers.size(), false) {
    for (size_t i = 0; i < servers.size(); ++i) {
      const auto above =
          static_cast<size_t>(servers[i].parent);  // a negative index is out of range
      if (above < servers.size()) children_[above].push_back(i);
    }
    for (size_t i = 0; i < servers.size(); ++i) {
      if (servers[i].parent == -1) DrawSubtree(i);
    }
    for (size_t i = 0; i < servers.size(); ++i) {
      if (!is_drawn_[i]) Draw(i, "? ");
    }
  }

  const std::vector<Line>& lines() const { return lines_; }

 private:
  struct Open {
    size_t server;
    std::string indent;  // of its children
    size_t next_child = 0;
  };

  bool IsFull() const { return lines_.size() == kDrawnServerCountMax; }

  void Draw(size_t server, std::string_view branches) {
    if (IsFull()) return;
    is_drawn_[server] = true;
    lines_.push_back({StrCat(branches, servers_[server].name), servers_[server].text});
  }

  void DrawSubtree(size_t root) {
    Draw(root, "");
    std::vector<Open> open = {{root, ""}};
    while (!open.empty() && !IsFull()) {
      Open& top = open.back();
      const std::vector<size_t>& children = children_[top.server];
      if (top.next_child == children.size()) {
        open.pop_back();
        continue;
      }
      const size_t child = children[top.next_child++];
      const bool is_last = top.next_child == children.size();
      Draw(child, StrCat(top.indent, is_last ? "└─ " : "├─ "));
      open.push_back({child, StrCat(top.indent, is_last ? "   " : "│  ")});
    }
  }

  const std::span<const DrawnServer> servers_;
  std::vector<std::vector<size_t>> children_;
  std::vector<bool> is_drawn_;
  std::vector<Line> lines_;
};

}  // namespace

std::string DrawTree(std::span<const DrawnServer> servers) {
  const Drawing drawing(servers);
  size_t width = 0;
  for (const Line& line : drawing.lines()) width = std::max(width, Width(line.head));
  std::string text;
  for (const Line& line : drawing.lines()) {
    text += line.head;
    if (!line.text.empty()) {
      text.append(width - Width(line.head), ' ');
      StrAppend(&text, kGap, line.text);
    }
    text += '\n';
  }
  const size_t left_out = servers.size() - drawing.lines().size();
  if (left_out > 0) StrAppend(&text, "and ", left_out, " more\n");
  return text;
}

}  // namespace neptune

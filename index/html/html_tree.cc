#include "index/html/html_tree.h"

#include <setjmp.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace search::html {

// Bump allocator in growing blocks.
class HtmlTree::Arena {
 public:
  explicit Arena(size_t memory_max) : memory_max_(memory_max) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() {
    for (void* block : blocks_) free(block);
  }

  // Null if the limit is reached.
  void* Allocate(size_t size) {
    size = (size + 15) & ~size_t{15};
    if (size > left_ && !AddBlock(size)) return nullptr;
    void* result = next_;
    next_ += size;
    left_ -= size;
    return result;
  }

  jmp_buf refused;

 private:
  static constexpr size_t kBlockSize = size_t{1} << 20;

  bool AddBlock(size_t size) {
    const size_t block_size = std::max(size, kBlockSize);
    if (block_size > memory_max_ - std::min(memory_max_, used_)) return false;
    void* block = malloc(block_size);
    if (block == nullptr) return false;
    blocks_.push_back(block);
    used_ += block_size;
    next_ = static_cast<char*>(block);
    left_ = block_size;
    return true;
  }

  const size_t memory_max_;
  std::vector<void*> blocks_;
  char* next_ = nullptr;
  size_t left_ = 0;
  size_t used_ = 0;
};

HtmlTree::HtmlTree(size_t memory_max) : arena_(std::make_unique<Arena>(memory_max)) {}
HtmlTree::~HtmlTree() = default;

neptune::StatusOr<std::unique_ptr<HtmlTree>> HtmlTree::Parse(std::string_view html,
                                                             size_t memory_max) {
  std::unique_ptr<HtmlTree> tree(new HtmlTree(memory_max));
  GumboOptions options = kGumboDefaultOptions;
  options.max_errors = 0;
  options.userdata = tree->arena_.get();
  options.allocator = [](void* userdata, size_t size) {
    auto* arena = static_cast<Arena*>(userdata);
    void* memory = arena->Allocate(size);
    if (memory == nullptr) longjmp(arena->refused, 1);
    return memory;
  };
  options.deallocator = [](void*, void*) {};
  if (setjmp(tree->arena_->refused) != 0) {
    return neptune::ResourceExhausted("parsing the page needs more than ", memory_max, " bytes");
  }
  tree->root_ = gumbo_parse_with_options(&options, html.data(), html.size())->root;
  return tree;
}

std::string_view HtmlAttribute(const GumboNode& node, const char* name) {
  const GumboAttribute* found = gumbo_get_attribute(&node.v.element.attributes, name);
  return found == nullptr ? std::string_view() : std::string_view(found->value);
}

bool HasHtmlAttribute(const GumboNode& node, const char* name) {
  return gumbo_get_attribute(&node.v.element.attributes, name) != nullptr;
}

unsigned HtmlChildCount(const GumboNode& node) {
  const bool element = node.type == GUMBO_NODE_ELEMENT || node.type == GUMBO_NODE_TEMPLATE;
  return element ? node.v.element.children.length : 0;
}

const GumboNode& HtmlChild(const GumboNode& node, unsigned index) {
  return *static_cast<const GumboNode*>(node.v.element.children.data[index]);
}

}  // namespace search::html

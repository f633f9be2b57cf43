// Merges sorted sequences, such as the dictionaries of several segments.
//
// Threads: thread-compatible.

#pragma once

#include <cstddef>
#include <queue>
#include <utility>
#include <vector>

namespace search::index {

// Heap of indices of sorted sequences, smallest head on top; equal heads by index.
template <typename Head>
class MergeQueue {
 public:
  explicit MergeQueue(Head head) : queue_(Later{std::move(head)}) {}
  void Push(size_t i) { queue_.push(i); }
  size_t Pop() {
    const size_t top = queue_.top();
    queue_.pop();
    return top;
  }
  size_t top() const { return queue_.top(); }
  bool empty() const { return queue_.empty(); }

 private:
  struct Later {
    Head head;
    bool operator()(size_t a, size_t b) const {
      return head(a) != head(b) ? head(b) < head(a) : a > b;
    }
  };
  std::priority_queue<size_t, std::vector<size_t>, Later> queue_;
};

}  // namespace search::index

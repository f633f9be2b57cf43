// The resources that one request has opened and not closed, besides memory: descriptors, streams,
// directories, mappings, and processes of popen.
//
// Source: [Zhou06], "Resource Accounting".
// Allocates with mmap only, because malloc depends on it.
// Threads: one at a time. Not for signal handlers.
// Errors: resources over the limit are not tracked but counted in unaccounted(); the request may
//   then not be terminated.
// Limits: kLedgerEntryMax of each kind.

#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace neptune {

inline constexpr size_t kLedgerEntryMax = size_t{1} << 20;

// An unordered list that doubles its mapping when it is full.
template <typename Entry>
class LedgerList {
 public:
  LedgerList() = default;
  ~LedgerList();
  LedgerList(const LedgerList&) = delete;
  LedgerList& operator=(const LedgerList&) = delete;

  // Returns false if there is no space.
  bool Add(const Entry& entry);
  // Returns false if the entry is not in the list. Searches from the latest entry.
  bool Remove(const Entry& entry);
  void Clear() { size_ = 0; }

  size_t size() const { return size_; }
  Entry* begin() { return entries_; }
  Entry* end() { return entries_ + size_; }

 private:
  static constexpr size_t kInlineCount = 8;
  bool Grow();

  Entry inline_[kInlineCount] = {};
  Entry* entries_ = inline_;
  size_t size_ = 0;
  size_t capacity_ = kInlineCount;
};

struct Mapping {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  friend bool operator==(const Mapping&, const Mapping&) = default;
};

// A process that popen or a similar function started.
struct PipedChild {
  void* stream = nullptr;  // null: closed, and the process is being waited for
  pid_t id = 0;            // process id and process group id
  friend bool operator==(const PipedChild&, const PipedChild&) = default;
};

class ResourceLedger {
 public:
  void AddDescriptor(int fd) { Note(descriptors_.Add(fd)); }
  void RemoveDescriptor(int fd) { descriptors_.Remove(fd); }
  // A FILE.
  void AddStream(void* stream) { Note(streams_.Add(stream)); }
  void RemoveStream(void* stream) { streams_.Remove(stream); }
  // A DIR.
  void AddDirectory(void* directory) { Note(directories_.Add(directory)); }
  void RemoveDirectory(void* directory) { directories_.Remove(directory); }
  void AddMapping(uintptr_t begin, size_t size) { Note(mappings_.Add({begin, begin + size})); }
  // Removes any part of the mappings, as munmap does.
  void RemoveMapping(uintptr_t begin, size_t size);

  void AddChild(const PipedChild& child) { Note(children_.Add(child)); }
  void RemoveChild(const PipedChild& child) { children_.Remove(child); }
  bool HasChild(const PipedChild& child) {
    return std::find(children_.begin(), children_.end(), child) != children_.end();
  }

  LedgerList<int>& descriptors() { return descriptors_; }
  LedgerList<void*>& streams() { return streams_; }
  LedgerList<void*>& directories() { return directories_; }
  LedgerList<Mapping>& mappings() { return mappings_; }
  LedgerList<PipedChild>& children() { return children_; }
  // Number of untracked resources since Clear.
  size_t unaccounted() const { return unaccounted_; }
  void Clear();

 private:
  void Note(bool accounted) { unaccounted_ += accounted ? 0 : 1; }

  LedgerList<int> descriptors_;
  LedgerList<void*> streams_;
  LedgerList<void*> directories_;
  LedgerList<Mapping> mappings_;
  LedgerList<PipedChild> children_;
  size_t unaccounted_ = 0;
};

}  // namespace neptune

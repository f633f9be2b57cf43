// What one request holds besides memory: descriptors, streams, directories, mappings and processes at the other end of
// streams that it opened and has not closed.
//
// Source: [Zhou06], "Resource Accounting".
// It allocates with mmap only, since malloc stands on it.
// Threads: one at a time. Not for signal handlers.
// Errors: what does not fit any more is not accounted, and counted in unaccounted(); the request may then not be ended.
// Limits: kLedgerEntryMax of each kind.

#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace neptune {

inline constexpr size_t kLedgerEntryMax = size_t{1} << 20;

// An unordered list that grows by mapping twice as much.
template <typename Entry>
class LedgerList {
 public:
  LedgerList() = default;
  ~LedgerList();
  LedgerList(const LedgerList&) = delete;
  LedgerList& operator=(const LedgerList&) = delete;

  // False: no room.
  bool Add(const Entry& entry);
  // False: it was not there. The latest are found first.
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

// A process started by popen.
struct PopenChild {
  void* stream = nullptr;  // null: already closed; the request is waiting for the process
  pid_t id = 0;            // process id, also the id of its process group
  friend bool operator==(const PopenChild&, const PopenChild&) = default;
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
  // Any part of what was mapped, as munmap takes it.
  void RemoveMapping(uintptr_t begin, size_t size);

  void AddChild(const PopenChild& child) { Note(children_.Add(child)); }
  void RemoveChild(const PopenChild& child) { children_.Remove(child); }
  bool HasChild(const PopenChild& child) {
    return std::find(children_.begin(), children_.end(), child) != children_.end();
  }

  LedgerList<int>& descriptors() { return descriptors_; }
  LedgerList<void*>& streams() { return streams_; }
  LedgerList<void*>& directories() { return directories_; }
  LedgerList<Mapping>& mappings() { return mappings_; }
  LedgerList<PopenChild>& children() { return children_; }
  // Since Clear: what the request holds and is not told of.
  size_t unaccounted() const { return unaccounted_; }
  void Clear();

 private:
  void Note(bool accounted) { unaccounted_ += accounted ? 0 : 1; }

  LedgerList<int> descriptors_;
  LedgerList<void*> streams_;
  LedgerList<void*> directories_;
  LedgerList<Mapping> mappings_;
  LedgerList<PopenChild> children_;
  size_t unaccounted_ = 0;
};

}  // namespace neptune

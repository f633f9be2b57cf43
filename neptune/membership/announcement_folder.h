// Announcements as files of a folder, one of each node:
//
//   FOLDER/store-1.node   the announcement's bytes, and nothing else
//   FOLDER/store-1.new    the next one while it is written; takes the name of the other when it is whole
//
// A look tells what files say that they did not say at any look before, so the file of a node that has long ended, which
// stays, is not news. The first look tells nothing. Nothing needs clocks that agree.
//
// Reads and writes the operating system's files in the calling thread.
// Threads: one at a time.
// Errors: kNotFound, kFailedPrecondition, kUnavailable the folder cannot be made, read or written, kResourceExhausted no
//   space or descriptors left; with the path.
// Limits: kDirectoryEntryCountMax names a look, in the order in which the system lists them; kAnnouncementSizeMax bytes.
//   What is larger, no plain file, or may not be read is refused and counted. Nothing is synced: a file that is lost with
//   its host is written again a second later.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"

namespace neptune {

struct FolderNews {
  std::vector<std::string> contents;  // by the name of the file
  size_t refused_count = 0;
};

// The folder of a directory named "file:/absolute/path", which holds letters, digits and "/-_." only.
// Errors: kInvalidArgument it is not named so.
StatusOr<std::string> FolderOfDirectory(std::string_view directory);

class AnnouncementFolder {
 public:
  explicit AnnouncementFolder(std::string path) : path_(std::move(path)) {}

  // Both make the folder if there is none, but not the one that it is in: a file system that is not mounted stays so.
  StatusOr<FolderNews> Poll();
  // REQUIRES: `node` has no '/'.
  Status Write(const std::string& node, std::string_view bytes) const;

  const std::string& path() const { return path_; }

 private:
  Status MakeFolder() const;
  StatusOr<std::vector<std::string>> Names() const;

  const std::string path_;
  bool has_looked_ = false;
  std::map<std::string, std::string> seen_;  // what each file said
};

}  // namespace neptune

// Announcements as files in a folder, one per node:
//
//   FOLDER/store-1.node   the announcement's bytes
//   FOLDER/store-1.new    the next announcement while it is written; renamed when complete
//
// A poll returns contents that no earlier poll has seen, so the remaining file of a node that ended
// long ago is not news. The first poll returns nothing. Clocks need not be synchronised.
//
// Reads and writes the operating system's files in the calling thread.
// Threads: one at a time.
// Errors: with the path: kNotFound, kFailedPrecondition, kUnavailable the folder cannot be created,
//   read or written; kFailedPrecondition the folder is a symbolic link, of a user other than root
//   and this one, or one that everyone may write; kResourceExhausted no space or descriptors left.
// Limits: kDirectoryEntryCountMax names per poll, in the order in which the system lists them;
//   kAnnouncementSizeMax bytes per file. Files that are larger, not regular, or not readable are
//   refused and counted. Files are not synced: a file lost with its host is written again a second
//   later.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"

namespace neptune {

struct FolderNews {
  std::vector<std::string> contents;  // in order of file names
  size_t refused_count = 0;
};

// Returns the path of a directory "file:/absolute/path", which may contain letters, digits and
// "/-_." only.
// Errors: kInvalidArgument any other text.
StatusOr<std::string> FolderOfDirectory(std::string_view directory);

class AnnouncementFolder {
 public:
  explicit AnnouncementFolder(std::string path) : path_(std::move(path)) {}

  // Both functions create the folder if necessary, but not its parent, so that nothing is written
  // below the mount point of a file system that is not mounted.
  StatusOr<FolderNews> Poll();
  // REQUIRES: `node` has no '/'.
  Status Write(const std::string& node, std::string_view bytes) const;

  const std::string& path() const { return path_; }

 private:
  Status MakeFolder() const;
  StatusOr<std::vector<std::string>> Names() const;

  const std::string path_;
  bool has_looked_ = false;
  std::map<std::string, std::string> seen_;  // last content of each file
};

}  // namespace neptune

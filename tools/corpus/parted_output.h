// A corpus file written in parts, so that a killed run continues after its last complete part.
//
//   OUT.parts/job       what is done, from what; a run with another job starts over
//   OUT.parts/N         part N, packed by itself as the name of OUT says
//   OUT.parts/N.state   counts and hashes of pages after part N; a part is whole once this is there
//   OUT                 all parts, one after another, once there are no more
//
// Since parts are packed by themselves, and begin where the same number of pages was seen, the file
// has the same bytes however often the run was killed.
//
// Threads: thread-compatible.
// Errors: UNAVAILABLE the file system; a damaged part or state is recreated.
// Limits: memory is the hashes of all pages written, 16 bytes each.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "neptune/base/status.h"
#include "tools/corpus/document_writer.h"
#include "tools/streams/file_sink.h"

namespace search::tools {

// Pages per part. Larger: better compression, but more work to repeat after a kill. Default: about
// 50 MB of text.
inline constexpr uint64_t kPartPages = 20'000;

// Returns the size in bytes; 0 if unknown, as for standard input ("-").
uint64_t SizeOfInput(const std::string& file);
// Identifies the file's contents in the name of a job by path, size and modification time. Standard
// input gets a different mark in every process.
std::string MarkOfInput(const std::string& file);

class PartedOutput {
 public:
  // `job` identifies the work: inputs and options. Continues after the parts of an earlier run of
  // the same job and restores the state of `writer`, whose counts show how many pages are done.
  // REQUIRES: both outlive this object.
  static neptune::StatusOr<std::unique_ptr<PartedOutput>> Open(const std::string& path,
                                                               const std::string& job,
                                                               DocumentWriter* writer);

  // Ends the current part and begins the next.
  neptune::Status NextPart();
  // Ends the last part, concatenates all parts under the file's name and removes the folder of
  // parts.
  neptune::Status Commit();

 private:
  PartedOutput(std::string path, DocumentWriter* writer)
      : path_(std::move(path)), folder_(path_ + ".parts"), writer_(writer) {}
  neptune::Status Restore();
  neptune::Status BeginPart();
  neptune::Status EndPart();
  std::string PartName(uint64_t part) const;

  const std::string path_;
  const std::string folder_;
  DocumentWriter* const writer_;
  uint64_t part_ = 0;  // the part being written
  std::unique_ptr<FileSink> sink_;
};

}  // namespace search::tools

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

// Pages of a part. Larger: less is done again after a kill; smaller parts pack worse. Default: some
// 50 MB of text.
inline constexpr uint64_t kPartPages = 20'000;

// In bytes; 0 where the system does not tell, as of standard input ("-").
uint64_t SizeOfInput(const std::string& file);
// The file's name, size and time of change, for the name of a job: other contents are another job.
// What is read from standard input is never the same again.
std::string MarkOfInput(const std::string& file);

class PartedOutput {
 public:
  // `job` identifies the work: inputs and options. Continues after what an earlier run of the same
  // job left and restores the state of `writer`, whose counts say how many pages are done.
  // REQUIRES: both outlive this object.
  static neptune::StatusOr<std::unique_ptr<PartedOutput>> Open(const std::string& path,
                                                               const std::string& job,
                                                               DocumentWriter* writer);

  // Ends the part that is being written and begins the next.
  neptune::Status NextPart();
  // Ends the last part, puts all together under the file's name and removes the folder of parts.
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
  uint64_t part_ = 0;  // that is being written
  std::unique_ptr<FileSink> sink_;
};

}  // namespace search::tools

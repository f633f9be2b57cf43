// A profile in the forms that tools read: pprof's, and folded stacks for flame graphs.
//
// Source: pprof's format.
// Threads: plain values and pure functions; FunctionNames is thread-compatible.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>

#include "neptune/admin/profile/allocation_sampler.h"
#include "neptune/admin/profile/processor_sampler.h"
#include "neptune/base/time.h"

namespace neptune {

// The function that an instruction is of; empty if it is of none that is known.
using NameOfAddress = std::function<std::string(uintptr_t address)>;

// Names of this process's functions, also of those that no library exports, each looked up once. It may block.
class FunctionNames {
 public:
  const std::string& Of(uintptr_t address);

 private:
  std::unordered_map<uintptr_t, std::string> names_;
};

struct ProfileHeader {
  WallTime began{};
  Duration length{};
  std::string node;  // as a comment
};

// A line each stack: functions from the outermost to the innermost, divided by ';', a blank, how often. What is not known
// is left out at the outer end, where a stack may end in words that are no frames, and "[unknown]" elsewhere.
std::string FoldedStacks(const ProcessorSamples& samples, const NameOfAddress& name);
// With the bytes that are held in place of how often.
std::string FoldedStacks(const AllocationSamples& samples, const NameOfAddress& name);

// Gzipped Protobuf: samples and nanoseconds of each stack. Ends of stacks as above.
std::string PprofProfile(const ProcessorSamples& samples, const ProfileHeader& header,
                         const NameOfAddress& name);
// With what was allocated and what of it is held, both in objects and in bytes.
std::string PprofProfile(const AllocationSamples& samples, const ProfileHeader& header,
                         const NameOfAddress& name);

}  // namespace neptune

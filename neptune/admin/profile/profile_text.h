// Output formats of profiles: pprof's, and folded stacks for flame graphs.
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

// Returns the function that contains the instruction; empty if unknown.
using NameOfAddress = std::function<std::string(uintptr_t address)>;

// Names of this process's functions, including unexported ones. Each is looked up once. May block.
class FunctionNames {
 public:
  const std::string& Of(uintptr_t address);

 private:
  std::unordered_map<uintptr_t, std::string> names_;
};

struct ProfileHeader {
  WallTime began{};
  Duration length{};
  std::string node;  // stored as a comment
};

// One line for each stack: functions from the outermost to the innermost, separated by ';', a
// space, the number of samples. Unknown functions are dropped at the outer end, where the walk may
// end in words that are not frames, and shown as "[unknown]" elsewhere.
std::string FoldedStacks(const ProcessorSamples& samples, const NameOfAddress& name);
// The same with the bytes held instead of the number of samples.
std::string FoldedStacks(const AllocationSamples& samples, const NameOfAddress& name);

// Gzipped Protobuf with samples and nanoseconds of each stack. The outer ends of stacks are treated
// as above.
std::string PprofProfile(const ProcessorSamples& samples, const ProfileHeader& header,
                         const NameOfAddress& name);
// The same with the allocated and the held objects and bytes of each stack.
std::string PprofProfile(const AllocationSamples& samples, const ProfileHeader& header,
                         const NameOfAddress& name);

}  // namespace neptune

#include "neptune/admin/profile/profile_text.h"

#include <cxxabi.h>
#include <google/protobuf/io/gzip_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/debugging/symbolize.h"
#include "neptune/admin/profile/profile.pb.h"
#include "neptune/base/strings.h"

namespace neptune {
namespace {

constexpr char kUnknown[] = "[unknown]";

struct NamedFrame {
  uintptr_t address = 0;
  std::string name;
};

// Returns the frames, innermost first.
std::vector<NamedFrame> Frames(const std::vector<uintptr_t>& stack, const NameOfAddress& name) {
  std::vector<NamedFrame> frames;
  for (const uintptr_t address : stack) frames.push_back({address, name(address)});
  while (frames.size() > 1 && frames.back().name.empty()) frames.pop_back();
  for (NamedFrame& frame : frames) {
    if (frame.name.empty()) frame.name = kUnknown;
    std::replace(frame.name.begin(), frame.name.end(), ';', ':');
  }
  return frames;
}

// Numbers strings, functions and addresses in order of first use.
class ProfileMaker {
 public:
  ProfileMaker() { Text(""); }

  int64_t Text(const std::string& text) {
    const auto [at, is_new] = texts_.try_emplace(text, profile_.string_table_size());
    if (is_new) profile_.add_string_table(text);
    return at->second;
  }
  void SetType(profile::ValueType* type, const char* what, const char* unit) {
    type->set_type(Text(what));
    type->set_unit(Text(unit));
  }
  uint64_t Location(const NamedFrame& frame) {
    const auto [at, is_new] = locations_.try_emplace(frame.address, locations_.size() + 1);
    if (is_new) {
      profile::Location& location = *profile_.add_location();
      location.set_id(at->second);
      location.set_address(frame.address);
      location.add_line()->set_function_id(Function(frame.name));
    }
    return at->second;
  }
  void SetHeader(const ProfileHeader& header, int64_t lost_count) {
    profile_.set_time_nanos(header.began.ns_since_1970);
    profile_.set_duration_nanos(header.length.count());
    profile_.add_comment(Text(header.node));
    if (lost_count > 0) {
      profile_.add_comment(Text(StrCat(lost_count, " samples exceeded the limit")));
    }
  }
  void AddSample(const std::vector<NamedFrame>& frames, std::initializer_list<int64_t> values) {
    profile::Sample& sample = *profile_.add_sample();
    for (const NamedFrame& frame : frames) sample.add_location_id(Location(frame));
    for (const int64_t value : values) sample.add_value(value);
  }
  profile::Profile& profile() { return profile_; }

 private:
  uint64_t Function(const std::string& name) {
    const auto [at, is_new] = functions_.try_emplace(name, functions_.size() + 1);
    if (is_new) {
      profile::Function& function = *profile_.add_function();
      function.set_id(at->second);
      function.set_name(Text(name));
      function.set_system_name(Text(name));
    }
    return at->second;
  }

  profile::Profile profile_;
  std::map<std::string, int64_t> texts_;
  std::map<uintptr_t, uint64_t> locations_;
  std::map<std::string, uint64_t> functions_;
};

std::string Gzipped(const profile::Profile& profile) {
  std::string bytes;
  google::protobuf::io::StringOutputStream sink(&bytes);
  google::protobuf::io::GzipOutputStream gzip(&sink);
  profile.SerializeToZeroCopyStream(&gzip);
  gzip.Close();
  return bytes;
}

// absl's demangler omits template arguments and cannot read every name; this one can.
std::string Readable(const char* name) {
  if (!std::string_view(name).starts_with("_Z")) return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> whole(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 ? whole.get() : name;
}

template <typename Value, typename Number>
std::string Folded(const std::map<std::vector<uintptr_t>, Value>& stacks, const NameOfAddress& name,
                   const Number& number) {
  std::map<std::string, int64_t> numbers;  // the addresses of one function are merged
  for (const auto& [stack, value] : stacks) {
    const std::vector<NamedFrame> frames = Frames(stack, name);
    std::string line;
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      StrAppend(&line, line.empty() ? "" : ";", frame->name);
    }
    numbers[line] += number(value);
  }
  std::string text;
  for (const auto& [line, total] : numbers) {
    if (total > 0) StrAppend(&text, line, " ", total, "\n");
  }
  return text;
}

}  // namespace

const std::string& FunctionNames::Of(uintptr_t address) {
  const auto [at, is_new] = names_.try_emplace(address);
  std::array<char, 1024> name{};
  if (is_new && absl::Symbolize(reinterpret_cast<const void*>(address), name.data(), name.size())) {
    at->second = Readable(name.data());
  }
  return at->second;
}

std::string FoldedStacks(const ProcessorSamples& samples, const NameOfAddress& name) {
  return Folded(samples.stacks, name, [](int64_t count) { return count; });
}

std::string FoldedStacks(const AllocationSamples& samples, const NameOfAddress& name) {
  return Folded(samples.stacks, name,
                [](const AllocationCounts& counts) { return std::llround(counts.held_bytes); });
}

std::string PprofProfile(const ProcessorSamples& samples, const ProfileHeader& header,
                         const NameOfAddress& name) {
  ProfileMaker maker;
  profile::Profile& profile = maker.profile();
  maker.SetType(profile.add_sample_type(), "samples", "count");
  maker.SetType(profile.add_sample_type(), "cpu", "nanoseconds");
  maker.SetType(profile.mutable_period_type(), "cpu", "nanoseconds");
  profile.set_period(kSamplePeriod.count());
  maker.SetHeader(header, samples.lost_count);
  for (const auto& [stack, count] : samples.stacks) {
    maker.AddSample(Frames(stack, name), {count, count * kSamplePeriod.count()});
  }
  return Gzipped(profile);
}

std::string PprofProfile(const AllocationSamples& samples, const ProfileHeader& header,
                         const NameOfAddress& name) {
  ProfileMaker maker;
  profile::Profile& profile = maker.profile();
  maker.SetType(profile.add_sample_type(), "alloc_objects", "count");
  maker.SetType(profile.add_sample_type(), "alloc_space", "bytes");
  maker.SetType(profile.add_sample_type(), "inuse_objects", "count");
  maker.SetType(profile.add_sample_type(), "inuse_space", "bytes");
  maker.SetType(profile.mutable_period_type(), "space", "bytes");
  profile.set_period(static_cast<int64_t>(kAllocationSampleDistance));
  maker.SetHeader(header, samples.lost_count);
  for (const auto& [stack, counts] : samples.stacks) {
    maker.AddSample(Frames(stack, name),
                    {std::llround(counts.made), std::llround(counts.made_bytes),
                     std::llround(counts.held), std::llround(counts.held_bytes)});
  }
  return Gzipped(profile);
}

}  // namespace neptune

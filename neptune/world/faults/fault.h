// Faults as data: what happens to which hosts, from when to when.
//
// One model serves the simulated world and clusters of real processes: a kind of fault is one
// enumerator, one row of the table in fault.cc, and a case in every FaultTarget that can cause it.
// Drawing, text, shrinking and ledgers read the table.
//
// Threads: immutable values and pure functions.
// Units: times count from the beginning of the run.
// Errors: kInvalidArgument a text is not a fault.

#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace neptune {

struct Fault {
  enum class Kind {
    kCrash,           // the host, until it is started again; amount 1: its process only
    kPause,           // SIGSTOP until SIGCONT
    kCut,             // nothing passes between hosts and others
    kCutOneWay,       // nothing passes from hosts to others
    kLossOneWay,      // from hosts to others; amount: probability
    kSlowProcessors,  // amount: how many times slower
    kClockOffset,     // amount: seconds that the wall clock is ahead
    kLatency,         // of all links; amount: how many times slower
    kDatagramLoss,    // on all links, as the next three; amount: probability
    kDatagramDuplication,
    kDatagramReordering,
    kStreamLoss,
    kLeave,            // the node stops gracefully and is started again at the end
    kHang,             // the node's long requests stand still
    kIsolate,          // nothing passes between the host and any other
    kFullDisk,         // writes fail until the end; amount 1: the process is started again then
    kSlowFlush,        // amount: seconds that each flush takes longer
    kReadErrors,       // reads of files fail; amount: probability; at the end it is started again
    kBitFlip,          // a bit of its files changes while its process is down; amount 1: runs
    kCrashInFlush,     // the process ends during a flush and loses what was not flushed
    kDescriptorLimit,  // no new descriptors
    kMemoryLimit,      // no new memory; at the end the process is started again
    kFloodShort,       // many connections with short requests
    kFloodReads,       // bursts of reads of replicated data
    kFloodLong,        // more long requests than there are threads
    kFloodHuge,        // huge answers that are not read
    kHungLoop,         // a method blocks a serving loop
    kBlockedLog,       // what the process logs is not taken from its pipe
    kFullCapsule,      // the capsules of its replicas' disk calls are full
    kNoRoom,           // its disk is almost full: it orders no writes; amount 1: it stores none
    kLogDecay,         // a bit of a stored log changes while its process runs
  };
  Kind kind = Kind::kCrash;
  std::set<std::string> hosts{};
  std::set<std::string> others{};
  double amount = 0;

  friend bool operator==(const Fault&, const Fault&) = default;
  // "cut a,b | c", "slow_processors a amount=4".
  std::string ToString() const;
};

// What a fault affects.
enum class FaultScope {
  kHost,     // `hosts` is one host
  kSides,    // the links between `hosts` and `others`
  kNetwork,  // all links; no hosts are named
};

// What `amount` means, which determines the range it is drawn from.
enum class FaultAmount { kNone, kZeroOrOne, kFactor, kSeconds, kProbability, kDelay };

// What others see of the host.
enum class HostEffect {
  kNone,
  kSlow,
  kUnresponsive,  // known, but does not execute requests
  kAway,          // it cannot be reached
};

// What must exist so that a fault can be caused.
enum class FaultNeeds {
  kHost,     // simulated or real, with any program
  kStorage,  // a host whose program keeps data
  kProgram,  // a program with methods for it
  kProcess,  // a process of an operating system
};

struct FaultTraits {
  Fault::Kind kind;
  const char* name;
  FaultScope scope;
  FaultAmount amount;
  HostEffect effect = HostEffect::kNone;
  FaultNeeds needs = FaultNeeds::kHost;

  // True if no other exclusive fault should touch the host at the same time.
  bool is_exclusive() const { return effect >= HostEffect::kUnresponsive; }
  // True if the host may lose what it has stored durably. It is caused only while no other host has
  // such a loss that it has not healed: what two of three copies have lost may be lost.
  bool may_damage() const {
    return kind == Fault::Kind::kBitFlip || kind == Fault::Kind::kReadErrors ||
           kind == Fault::Kind::kLogDecay;
  }
};

// All kinds, in the order of the enumerators.
std::span<const FaultTraits> AllFaultTraits();
const FaultTraits& TraitsOf(Fault::Kind kind);

// A fault that lasts from `begin` to `end`.
struct FaultSpan {
  TimePoint begin;
  TimePoint end;
  Fault fault;

  const FaultTraits& traits() const { return TraitsOf(fault.kind); }
  // REQUIRES: the scope of the fault is a host.
  const std::string& host() const { return *fault.hosts.begin(); }
  friend bool operator==(const FaultSpan&, const FaultSpan&) = default;
  // "1-2.5 s pause a"
  std::string ToString() const;
};

// A scripted or drawn run, ordered by the beginnings. Two spans of one kind and the same hosts do
// not overlap, nor do two faults of the same sides.
using FaultSchedule = std::vector<FaultSpan>;

// One line for each fault; ParseFaultSchedule reads it back exactly.
std::string ToString(const FaultSchedule& schedule);
StatusOr<Fault> ParseFault(std::string_view text);
StatusOr<FaultSpan> ParseFaultSpan(std::string_view text);
// Blank lines and lines that begin with '#' are skipped.
StatusOr<FaultSchedule> ParseFaultSchedule(std::string_view text);

// The beginning or the end of a fault.
struct FaultChange {
  TimePoint at;
  bool begins = false;
  Fault fault;

  friend bool operator==(const FaultChange&, const FaultChange&) = default;
};

// All beginnings and ends, ordered by time; those of equal times in the order of the schedule.
std::vector<FaultChange> ChangesOf(const FaultSchedule& schedule);

}  // namespace neptune

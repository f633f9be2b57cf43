// Every fault that simulated nodes with replicas can have: those of their hosts, links and disks,
// floods of requests, and capsules that are full.
//
//   flood_short   16 connections of echoes        flood_reads   16 with eight reads each
//   flood_long    16 requests of 300 ms of work   flood_huge    16 answers of 4 MiB, not read
//   full_capsule  holders take the places of the replicas' disk calls until it ends
//   no_room       the disk says that less is free than its reserve, or a half of it
//   log_decay     a bit of a synced segment of the node's log changes; the scrub must find it
//
// The floods are smaller than those of tools/chaos, because a simulation runs in one thread.
//
// A fault that may damage what is stored begins only if the cluster permits it; otherwise nothing
// happens until its end. See FaultTraits::may_damage.
//
// Threads: the simulation's thread.
// Units: virtual time.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "neptune/testing/simulated_nodes.h"
#include "neptune/world/faults/fault_counts.h"
#include "neptune/world/random_source.h"
#include "neptune/world/sim/sim_faults.h"
#include "neptune/world/sim/sim_log_files.h"
#include "tools/lab/replication/sim_flood.h"

namespace search::lab {

class ReplicaNemeses final : public neptune::FaultTarget {
 public:
  // True if the replicas of this host may lose what they have stored, because all others have it.
  using MayDamage = std::function<bool(const std::string& host)>;

  // Adds a host from which floods come. The nodes host the service of tools/chaos/nemesis_module.h
  // and outlive the target.
  ReplicaNemeses(neptune::SimulatedNodes& nodes, MayDamage may_damage);
  ~ReplicaNemeses() override;

  bool Supports(neptune::Fault::Kind kind) const override;
  neptune::Status Begin(const neptune::Fault& fault) override;
  neptune::Status End(const neptune::Fault& fault) override;

  // Faults that have not ended count as begun only.
  neptune::FaultCounts counts() const;
  // The last host whose stored data were damaged; the cluster asks whether it has healed. Empty:
  // none yet.
  const std::string& damaged_host() const { return damaged_host_; }
  // True if a bit has flipped on the host, in use, that nothing may have read since.
  bool has_latent_damage(const std::string& host) const { return latent_.contains(host); }
  // True if a log of the host still has what has decayed.
  bool has_decay(const std::string& host) const;
  // The host was started again, and has read everything.
  void NoteRestart(const std::string& host) { latent_.erase(host); }

 private:
  class CapsuleHold;
  using Key = std::pair<neptune::Fault::Kind, std::string>;

  void BeginOfProgram(const neptune::Fault& fault);
  void EndOfProgram(const neptune::Fault& fault);
  void NoteDamage(const neptune::Fault& fault);
  void SetRoom(const neptune::Fault& fault, bool begins);
  void DecayLog(const std::string& host);
  // Writes that the node has refused until now; 0: it does not run.
  uint64_t RefusedWrites(const std::string& host) const;
  // Decayed bytes that are no longer there: they were found.
  uint64_t FoundDecays() const;

  neptune::SimulatedNodes& nodes_;
  const MayDamage may_damage_;
  neptune::SimFaultTarget hosts_;
  neptune::Loop& flood_loop_;
  std::map<Key, std::unique_ptr<SimFlood>> floods_;
  std::map<Key, std::unique_ptr<CapsuleHold>> holds_;
  std::set<Key> skipped_;  // that were not permitted and have not ended
  std::string damaged_host_;
  std::set<std::string> latent_;
  neptune::RandomSource random_;
  std::map<std::string, std::vector<neptune::SimLogFiles::DecayedByte>> decayed_;  // by host
  std::map<Key, uint64_t> before_;  // writes refused when they began
  neptune::FaultCounts counts_;     // of the kinds that hosts_ does not cause, and of skipped ones
};

}  // namespace search::lab

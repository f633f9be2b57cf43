#include "neptune/replication/agent/data_opening.h"

#include <glog/logging.h>

#include <optional>
#include <utility>

namespace neptune {
namespace {

// Parts in which all data are checked.
constexpr size_t kVerifySizeMax = 1u << 20;

}  // namespace

Status DataOpening::Open(bool are_damaged) {
  const bool is_replaceable = OthersHaveData() || log_.found().base.lsn == 0;
  if (are_damaged && is_replaceable) {
    return BeginWithout(DataLoss("the data are damaged"), /*fits=*/true);
  }
  Status opened = data_.Open();
  // No other data can replace these. They may be read again if the damage was not on the disk.
  if (opened.ok() && are_damaged) opened = VerifyAll();
  if (opened.code() == StatusCode::kDataLoss) return BeginWithout(opened, /*fits=*/true);
  NEPTUNE_RETURN_IF_ERROR(opened);
  const Status fit = CheckFit();
  return fit.ok() ? fit : BeginWithout(fit, /*fits=*/false);
}

// A log whose base is after the data, or (level 1) data that end after the log, result from an
// unfinished restore.
Status DataOpening::CheckFit() const {
  const Lsn completed = data_.state()->completed();
  const Lsn base = log_.found().base.lsn;
  if (completed < base) {
    return DataLoss("the data end with write ", completed, ", the log begins after ", base);
  }
  const Lsn last = log_.found().last_lsn;
  if (traits_.is_ordered || completed <= last) return OkStatus();
  return DataLoss("the data end with write ", completed, ", the log with ", last);
}

Status DataOpening::BeginWithout(const Status& why, bool fits) {
  const bool is_log_whole = fits && log_.found().base.lsn == 0;
  if (!is_log_whole && !OthersHaveData()) {
    return Annotate(why, "no other member could replace the data");
  }
  LOG(WARNING) << "replica of " << traits_.name << ": " << why
               << (is_log_whole ? ": the log is executed again" : ": the data are replaced");
  if (!is_log_whole && traits_.can_repair) {
    repair_ = why;
    data_.NoteDamage();  // until they are destroyed
    return data_.exists() ? data_.CloseOnDevice() : OkStatus();
  }
  NEPTUNE_RETURN_IF_ERROR(data_.Destroy());
  if (!is_log_whole) {
    NEPTUNE_RETURN_IF_ERROR(log_.Destroy());
    NEPTUNE_RETURN_IF_ERROR(log_.Open());
  }
  return data_.Open();
}

bool DataOpening::OthersHaveData() const {
  for (MemberIndex i = 0; i < traits_.group.size(); ++i) {
    if (i != traits_.group.self && !traits_.group.IsWitness(i)) return true;
  }
  return false;
}

Status DataOpening::VerifyAll() const {
  std::optional<std::string> next = std::string();
  while (next) {
    NEPTUNE_ASSIGN_OR_RETURN(VerifiedPart part, data_.Verify(*next, kVerifySizeMax));
    next = std::move(part.next);
  }
  return OkStatus();
}

}  // namespace neptune

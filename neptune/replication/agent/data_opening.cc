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
  if (!log_.damage().ok()) return BeginWithoutLog(log_.damage(), are_damaged);
  if (!traits_.has_data) return OkStatus();
  if (are_damaged && (OthersHaveData() || HasLogEveryWrite())) {
    return BeginWithout(DataLoss("the data are damaged"), /*are_damaged=*/true);
  }
  const Status opened = OpenData(are_damaged);
  if (opened.code() == StatusCode::kDataLoss) return BeginWithout(opened, /*are_damaged=*/true);
  NEPTUNE_RETURN_IF_ERROR(opened);
  // Data never get ahead of an ordered log, which is stored first: its end is lost.
  const Lsn completed = data_.state()->completed();
  const Lsn last = log_.found().last_lsn;
  if (traits_.is_ordered && completed > last) {
    return BeginWithoutLog(
        DataLoss("the data contain write ", completed, ", but the log ends with ", last),
        /*are_damaged=*/false);
  }
  const Status fit = CheckFit();
  return fit.ok() ? fit : BeginWithout(fit, /*are_damaged=*/false);
}

Status DataOpening::OpenData(bool are_damaged) {
  NEPTUNE_RETURN_IF_ERROR(data_.Open());
  // No other data can replace these. They may be read again if the damage was not on the disk.
  return are_damaged ? VerifyAll() : OkStatus();
}

// A log whose base is after the data, or, of writes that commute, data that end after the log,
// result from an unfinished restore.
Status DataOpening::CheckFit() const {
  const Lsn completed = data_.state()->completed();
  const Lsn base = log_.found().base.lsn;
  if (completed < base) {
    return DataLoss("the data end with write ", completed, ", the log begins after ", base);
  }
  const Lsn last = log_.found().last_lsn;
  if (completed <= last) return OkStatus();
  return DataLoss("the data end with write ", completed, ", the log with ", last);
}

Status DataOpening::BeginWithout(const Status& why, bool are_damaged) {
  const bool is_executed_again = are_damaged && HasLogEveryWrite();
  if (!is_executed_again && !OthersHaveData()) {
    return Annotate(why, "no other member could replace the data");
  }
  LOG(WARNING) << "replica of " << traits_.name << ": " << why
               << (is_executed_again ? ": the log is executed again" : ": the data are replaced");
  if (is_executed_again) {
    NEPTUNE_RETURN_IF_ERROR(data_.Destroy());
    return data_.Open();
  }
  if (!traits_.can_repair) return ForgetLog(are_damaged);
  repair_ = why;
  data_.NoteDamage();  // until they are destroyed
  return data_.exists() ? data_.CloseOnDevice() : OkStatus();
}

Status DataOpening::BeginWithoutLog(const Status& why, bool are_damaged) {
  damage_ = why;
  if (traits_.group.size() == 1) return why;
  if (traits_.has_data && !data_.exists() && !are_damaged) {
    const Status opened = data_.Open();
    are_damaged = opened.code() == StatusCode::kDataLoss;
    if (!are_damaged) NEPTUNE_RETURN_IF_ERROR(opened);
  }
  if (are_damaged && !OthersHaveData()) {
    return Annotate(why, "the data are damaged too, and no other member has them");
  }
  LOG(ERROR) << "replica of " << traits_.name
             << " forgets its log, and asks the other members: " << why;
  return ForgetLog(are_damaged);
}

// Data that are not damaged are kept until others, or an entry of the new log, replace them.
Status DataOpening::ForgetLog(bool are_damaged) {
  if (are_damaged) NEPTUNE_RETURN_IF_ERROR(data_.Destroy());
  NEPTUNE_RETURN_IF_ERROR(log_.Forget());
  if (are_damaged) return data_.Open();
  if (traits_.has_data) data_.Distrust();
  return OkStatus();
}

// An empty log may be one that was forgotten.
bool DataOpening::HasLogEveryWrite() const {
  return log_.found().base.lsn == 0 && log_.found().last_lsn > 0;
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

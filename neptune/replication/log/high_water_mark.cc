#include "neptune/replication/log/high_water_mark.h"

#include <array>
#include <utility>

#include "neptune/base/byte_order.h"
#include "neptune/base/checksum.h"

namespace neptune {
namespace {

constexpr uint64_t kSlotDistance = 4096;
constexpr size_t kSlotSize = 2 * sizeof(uint64_t);

std::string EncodeSlot(uint64_t batch, uint64_t salt) {
  std::string body;
  ByteWriter(&body).Number(batch);
  std::string slot;
  ByteWriter out(&slot);
  out.Number(Checksum64(body, salt));
  out.Bytes(body);
  return slot;
}

// Returns 0 if the slot is damaged or was never written.
uint64_t DecodeSlot(std::string_view slot, uint64_t salt) {
  ByteReader in(slot);
  const uint64_t checksum = in.Number<uint64_t>();
  const uint64_t batch = in.Number<uint64_t>();
  if (!in.finished() || checksum != Checksum64(slot.substr(sizeof(uint64_t)), salt)) return 0;
  return batch;
}

}  // namespace

StatusOr<HighWaterMark> HighWaterMark::Open(LogFiles& files, std::string_view name, uint64_t salt) {
  NEPTUNE_ASSIGN_OR_RETURN(std::unique_ptr<LogFile> file, files.Open(name));
  HighWaterMark mark(std::move(file), salt);
  NEPTUNE_RETURN_IF_ERROR(mark.Load());
  return mark;
}

// A slot that is damaged claims nothing.
Status HighWaterMark::Load() {
  std::array<uint64_t, 2> batches = {};
  for (uint64_t slot = 0; slot < batches.size(); ++slot) {
    const StatusOr<std::string> bytes = file_->ReadAt(slot * kSlotDistance, kSlotSize);
    is_whole_ = is_whole_ && bytes.ok();
    if (bytes.ok()) batches[slot] = DecodeSlot(*bytes, salt_);
  }
  slot_ = batches[0] > batches[1] ? 1 : 0;
  batch_ = batches[1 - slot_];
  NEPTUNE_ASSIGN_OR_RETURN(const uint64_t size, file_->Size());
  const uint64_t whole_size = kSlotDistance + kSlotSize;
  if (size >= whole_size) return OkStatus();
  return file_->WriteAt(size, std::string(whole_size - size, '\0'));
}

Status HighWaterMark::Note(uint64_t batch) {
  NEPTUNE_RETURN_IF_ERROR(file_->WriteAt(slot_ * kSlotDistance, EncodeSlot(batch, salt_)));
  batch_ = batch;
  is_synced_ = false;
  return OkStatus();
}

Status HighWaterMark::Sync() {
  if (is_synced_) return OkStatus();
  NEPTUNE_RETURN_IF_ERROR(file_->Sync());
  slot_ = 1 - slot_;
  is_synced_ = true;
  return OkStatus();
}

}  // namespace neptune

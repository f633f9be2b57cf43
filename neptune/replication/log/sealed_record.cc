#include "neptune/replication/log/sealed_record.h"

#include "neptune/base/byte_order.h"
#include "neptune/base/checksum.h"
#include "neptune/base/strings.h"

namespace neptune {

std::string Sealed(std::string_view record) {
  std::string bytes;
  bytes.reserve(sizeof(uint64_t) + record.size());
  ByteWriter out(&bytes);
  out.Number(Checksum64(record));
  out.Bytes(record);
  return bytes;
}

StatusOr<std::string_view> Unsealed(std::string_view bytes, std::string_view what) {
  ByteReader in(bytes);
  const uint64_t checksum = in.Number<uint64_t>();
  const std::string_view record = in.Bytes(in.remaining());
  if (in.failed() || checksum != Checksum64(record)) return DataLoss(what, " is damaged");
  return record;
}

}  // namespace neptune

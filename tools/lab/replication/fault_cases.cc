#include "tools/lab/replication/fault_cases.h"

#include <charconv>

namespace search::lab {

neptune::StatusOr<Measurement> RunFaultCase(const RunContext& context, const std::string& name,
                                            const std::string& detail) {
  int number = 0;
  std::from_chars(detail.data(), detail.data() + detail.size(), number);
  if (name == "quiet") return RunQuiet(context, "");
  if (name == "before") return RunBefore(context);
  if (name == "etcd") return RunEtcd(context, number);
  if (name == "flood") return RunFlood(context);
  if (name == "long") return RunLong(context);
  if (name == "slow_flush") return RunSlowFlush(context, number);
  if (name == "flip") return RunFlip(context, detail);
  if (name == "readers") return RunReaders(context);
  if (name == "snapshot") return RunSnapshot(context);
  if (name == "partitions") return RunPartitions(context);
  if (name == "single") {
    for (const neptune::Fault& fault : SingleFaults()) {
      if (fault.ToString() == detail) return RunSingle(context, fault);
    }
  }
  return neptune::InvalidArgument("there is no case '", name, "' with '", detail, "'");
}

}  // namespace search::lab

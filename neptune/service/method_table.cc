#include "neptune/service/method_table.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "neptune/base/checksum.h"
#include "neptune/base/strings.h"
#include "neptune/wire/incoming_call.h"

namespace neptune {

void MethodTable::Add(const MethodName& name, const MethodOptions& options,
                      MethodFunction function) {
  Register(name, options).function = std::move(function);
}

void MethodTable::AddStream(const MethodName& name, const MethodOptions& options,
                            StreamFunction function) {
  CHECK(options.access == AccessMode::kRead) << "stream method " << name << " writes";
  CHECK(options.parks) << "stream method " << name << " waits for messages";
  ServedMethod& method = Register(name, options);
  method.stream_function = std::move(function);
  const auto count = [&](const char* direction) {
    return CounterOf("neptune_stream_messages_total", "Messages of streams, by direction.", name,
                     {{"direction", direction}});
  };
  method.messages_read = count("read");
  method.messages_written = count("written");
}

ServedMethod& MethodTable::Register(const MethodName& name, const MethodOptions& options) {
  CHECK(options.access == AccessMode::kRead || !options.stateless)
      << "method " << name << " writes and so cannot be stateless";
  CHECK(options.parks || options.grain == Grain::kShort)
      << "method " << name << " is long and so may wait";
  CHECK(!methods_.contains(name.value())) << "method " << name << " registered twice";
  auto method = std::make_unique<ServedMethod>();
  method->name = name.value();
  method->number = Checksum64(name.value(), Checksum64(service_.value()));
  method->options = options;
  ShowEnds(name, method.get());
  method->ended_early =
      CounterOf("neptune_requests_ended_early_total",
                "Requests stopped because they exceeded the time limit.", name, {});
  method->queue_time =
      TimeOf("neptune_queue_seconds", "Time from arrival to the start of the method.", name);
  method->run_time =
      TimeOf("neptune_run_seconds", "Run time of the method, including its waits.", name);
  return *methods_.emplace(name.value(), std::move(method)).first->second;
}

void MethodTable::ShowEnds(const MethodName& name, ServedMethod* method) {
  for (size_t outcome = 0; outcome < kOutcomeNames.size(); ++outcome) {
    auto series = metrics_.AddCallbackCounter(
        "neptune_requests_total", "Requests served, by outcome.",
        {{"service", service_.value()},
         {"method", name.value()},
         {"outcome", std::string(kOutcomeNames[outcome])}},
        [method, outcome] { return static_cast<double>(method->ended.Sum(outcome)); });
    CHECK(series.ok()) << series.status();
    method->series.push_back(*std::move(series));
  }
}

Counter* MethodTable::CounterOf(const char* metric, const char* help, const MethodName& method,
                                MetricLabels more) {
  MetricLabels labels = {{"service", service_.value()}, {"method", method.value()}};
  std::move(more.begin(), more.end(), std::back_inserter(labels));
  auto counter = metrics_.AddCounter(metric, help, labels);
  CHECK(counter.ok()) << counter.status();
  return *counter;
}

HistogramMetric* MethodTable::TimeOf(const char* metric, const char* help,
                                     const MethodName& method) {
  auto histogram = metrics_.AddHistogram(
      metric, help, {{"service", service_.value()}, {"method", method.value()}});
  CHECK(histogram.ok()) << histogram.status();
  return *histogram;
}

MethodTable::Found MethodTable::Find(const IncomingRequest& request) const {
  const ServedMethod* const method = FindMethod(request);
  if (method != nullptr) return {method, Check(request, *method)};
  return {nullptr,
          Unimplemented("service ", service_, " has no method '", request.header.method, "'")};
}

// The method that was noted is this table's, because the service was noted with it.
const ServedMethod* MethodTable::FindMethod(const IncomingRequest& request) const {
  HandlerNote* const note = request.note;
  if (note != nullptr && note->method != nullptr) {
    return static_cast<const ServedMethod*>(note->method);
  }
  const auto found = methods_.find(request.header.method.value());
  if (found == methods_.end()) return nullptr;
  if (note != nullptr) note->method = found->second.get();
  return found->second.get();
}

Status MethodTable::Check(const IncomingRequest& request, const ServedMethod& method) const {
  const RequestHeader& header = request.header;
  if (method.options.access == AccessMode::kWrite && header.access == AccessMode::kRead) {
    return InvalidArgument("method ", header.method, " writes and was called as a read");
  }
  if (method.streams() != header.stream) {
    return InvalidArgument("method ", header.method,
                           method.streams() ? " is a stream and was called"
                                            : " is not a stream and was opened as one");
  }
  if (std::find(partitions_.begin(), partitions_.end(), header.partition) == partitions_.end()) {
    return NotHere(header.partition);
  }
  if (request.deadline <= request.received) {
    return DeadlineExceeded("the request arrived after its deadline");
  }
  return OkStatus();
}

Status MethodTable::NotHere(PartitionId partition) const {
  return Unavailable("partition ", partition, " of ", service_, " is not on this node");
}

}  // namespace neptune

// A TierBuilder over a foreign engine, which is given documents inverted and in order.
//
// Source: none. Layer: index/tier/engine_kit. Threads, errors: as tier_builder.h says.

#pragma once

#include "index/tier/engine_kit/document_inverter.h"
#include "index/tier/tier_builder.h"
#include "neptune/base/status.h"

namespace search::index {

class EngineBuilder : public TierBuilder {
 public:
  neptune::Status Add(const IndexedDocument& document) final {
    if (status_.ok()) status_ = inverter_.Add(document);
    if (status_.ok()) status_ = Write(inverter_);
    return status_;
  }
  neptune::Status Finish() final {
    NEPTUNE_RETURN_IF_ERROR(status_);
    status_ = neptune::FailedPrecondition("build partition: already finished");
    return Close(inverter_.partition());
  }

 private:
  // `document` was added to: its terms and record are the document, whose ordinal is one less than document_count.
  virtual neptune::Status Write(const DocumentInverter& document) = 0;
  // What follows the last document.
  virtual neptune::Status Close(const PartitionRecord& partition) = 0;

  DocumentInverter inverter_;
  neptune::Status status_;
};

}  // namespace search::index

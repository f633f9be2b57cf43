// What a client wrote into a collection, and what searches have to find of it: which documents to add, replace and remove
// next, and for each word that was ever written whether it is to be found.
//
//   Next ─► the write ─► Acknowledge: the document is as written
//                    └─► GiveUp: it may be so or not, nothing is expected of it any more
//
// Each version of a document has a word of its own, which no other text holds.
//
// No I/O; chance comes in.
// Threads: thread-compatible.
// Limits: one write of a document at a time.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "neptune/world/random_source.h"

namespace search::lab {

struct DocumentWrite {
  uint64_t doc_id = 0;
  bool is_new = false;        // the collection has never had it
  bool is_published = false;  // an index was built from it
  bool removes = false;       // else it is from now on what its word says
  std::string url;
  std::string word;         // empty: it removes
  std::string word_before;  // empty: none
};

struct Expectation {
  std::string word;
  // Of the document that is found by it; nullopt: none is.
  std::optional<uint64_t> doc_id;
};

struct DocumentLedgerOptions {
  // Published documents are numbered from 0 and never removed, only replaced.
  uint64_t published_count = 0;
  double new_share = 0.5;
  double removal_share =
      0.2;  // the rest replaces documents, those that were added and those that were published
};

class DocumentLedger {
 public:
  explicit DocumentLedger(const DocumentLedgerOptions& options) : options_(options) {}

  // A write of a document that has none under way.
  DocumentWrite Next(neptune::RandomSource& random);
  // REQUIRES: the write is under way.
  void Acknowledge(const DocumentWrite& write);
  void GiveUp(const DocumentWrite& write);

  // Of all words but those of writes under way and of documents that were given up.
  std::vector<Expectation> Expectations() const;

 private:
  struct Document {
    std::string url;
    std::string word;         // empty: not there
    bool is_busy = false;     // a write is under way
    bool is_unknown = false;  // one was given up
    std::vector<std::string> words_before = {};
  };

  DocumentWrite NewDocument();
  // nullopt: no document is free for it.
  std::optional<DocumentWrite> Change(neptune::RandomSource& random, bool removes);

  const DocumentLedgerOptions options_;
  std::map<uint64_t, Document> documents_;
  std::vector<uint64_t> added_;  // and not removed
  uint64_t write_count_ = 0;
};

}  // namespace search::lab

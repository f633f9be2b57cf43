// Records the documents that a client wrote into a collection: chooses the documents to add,
// replace and remove, and knows for each word ever written whether searches must find it.
//
//   Next ─► the write ─► Acknowledge: the document is as written
//                    └─► GiveUp: its state is unknown and no longer checked
//
// Each version of a document has a unique word.
//
// No I/O; the caller passes random numbers.
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
  bool removes = false;       // else the document has `word` from now on
  std::string url;
  std::string word;         // empty if `removes`
  std::string word_before;  // empty: none
};

struct Expectation {
  std::string word;
  // The document that the word must find; nullopt: none.
  std::optional<uint64_t> doc_id;
};

struct DocumentLedgerOptions {
  // Number of published documents, which are numbered from 0 and replaced but never removed.
  uint64_t published_count = 0;
  double new_share = 0.5;
  double removal_share = 0.2;  // the rest replaces added and published documents
};

class DocumentLedger {
 public:
  explicit DocumentLedger(const DocumentLedgerOptions& options) : options_(options) {}

  // Returns a write of a document without a write in progress.
  DocumentWrite Next(neptune::RandomSource& random);
  // REQUIRES: the write is in progress.
  void Acknowledge(const DocumentWrite& write);
  void GiveUp(const DocumentWrite& write);

  // Expectations for all words, except those of writes in progress and of documents given up.
  std::vector<Expectation> Expectations() const;

 private:
  struct Document {
    std::string url;
    std::string word;         // empty: removed
    bool is_busy = false;     // a write is in progress
    bool is_unknown = false;  // a write was given up
    std::vector<std::string> words_before = {};
  };

  DocumentWrite NewDocument();
  // Returns nullopt if all documents are busy.
  std::optional<DocumentWrite> Change(neptune::RandomSource& random, bool removes);

  const DocumentLedgerOptions options_;
  std::map<uint64_t, Document> documents_;
  std::vector<uint64_t> added_;  // without removed ones
  uint64_t write_count_ = 0;
};

}  // namespace search::lab

// Documents for tests: real ones of the machine, real ones of the shared data, and synthetic ones.
//
// Source: the licence texts that every Debian system carries (/usr/share/common-licenses);
//   Wikipedia articles in the folder that the environment names in NEPTUNE_SHARED_DATA.
// Reads files.
// Threads: pure functions over files.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "index/core/document.h"

namespace search::index {

struct TestDocument {
  uint64_t doc_id = 0;
  std::string title;
  std::string body;
  std::string extra_text;
  std::string site;
  float static_rank = 0;
  std::string url = {};
  std::string language = {};
  std::string date = {};

  IndexedDocument View() const {
    return {.doc_id = doc_id,
            .title = title,
            .body = body,
            .extra_text = extra_text,
            .site = site,
            .static_rank = static_rank,
            .url = url,
            .language = language,
            .date = date};
  }
};

// A few hundred documents of a few licence paragraphs each; titles are their first words, extra
// texts are words of other paragraphs. Empty if the directory is absent.
std::vector<TestDocument> LicenseDocuments();

// Words w0, w1, … with frequencies by Zipf's law; some documents differ only in their number.
std::vector<TestDocument> ZipfDocuments(size_t count, uint64_t seed);

// At most `count_max` articles of collections/wiki_mini; empty, with a message on standard error,
// if they are absent.
std::vector<TestDocument> WikiMiniDocuments(size_t count_max);

// The value of the environment variable NEPTUNE_SHARED_DATA, or empty.
std::string SharedDataFolder();

// Calls `use` with each line of a file compressed with zstd; false if it cannot be read.
bool ReadZstdLines(const std::string& path, const std::function<bool(const std::string&)>& use);

}  // namespace search::index

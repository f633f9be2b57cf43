#include "index/core/testing/documents.h"

#include <zstd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

namespace search::index {
namespace {

constexpr char kLicenseFolder[] = "/usr/share/common-licenses";
constexpr size_t kParagraphsOfDocument = 3;

std::vector<std::string> Paragraphs(const std::filesystem::path& path) {
  std::vector<std::string> paragraphs(1);
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.find_first_not_of(" \t\f\r") == std::string::npos) {
      if (!paragraphs.back().empty()) paragraphs.emplace_back();
    } else {
      paragraphs.back() += line + "\n";
    }
  }
  return paragraphs;
}

std::string FirstWords(const std::string& text, int count) {
  std::istringstream in(text);
  std::string words;
  for (std::string word; count > 0 && in >> word; --count) words += word + " ";
  return words;
}

float RandomRank(std::mt19937_64& rng) {
  return rng() % 3 == 0 ? 0 : static_cast<float>(rng() % 1000) / 1000;
}

}  // namespace

std::vector<TestDocument> LicenseDocuments() {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(kLicenseFolder, error)) {
    if (entry.is_regular_file() && !entry.is_symlink()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::mt19937_64 rng(1);
  std::vector<TestDocument> documents;
  for (const auto& file : files) {
    const std::vector<std::string> paragraphs = Paragraphs(file);
    for (size_t i = 0; i < paragraphs.size(); i += kParagraphsOfDocument) {
      TestDocument& document = documents.emplace_back();
      document.doc_id = 1000 + 7 * documents.size();
      document.title = FirstWords(paragraphs[i], 5);
      for (size_t j = i; j < std::min(paragraphs.size(), i + kParagraphsOfDocument); ++j) {
        document.body += paragraphs[j] + "\n";
      }
      if (rng() % 3 == 0)
        document.extra_text = FirstWords(paragraphs[rng() % paragraphs.size()], 4);
      document.site = file.filename().string();
      document.static_rank = RandomRank(rng);
    }
  }
  return documents;
}

std::vector<TestDocument> ZipfDocuments(size_t count, uint64_t seed) {
  constexpr size_t kWordCount = 3000;
  std::vector<double> weights(kWordCount);
  for (size_t i = 0; i < kWordCount; ++i) weights[i] = 1 / static_cast<double>(i + 1);
  std::discrete_distribution<size_t> words(weights.begin(), weights.end());
  std::mt19937_64 rng(seed);
  const auto text = [&](size_t length) {
    std::string out;
    for (size_t i = 0; i < length; ++i) out += "w" + std::to_string(words(rng)) + " ";
    return out;
  };
  std::vector<TestDocument> documents;
  for (size_t i = 0; i < count; ++i) {
    TestDocument& document = documents.emplace_back();
    if (i > 0 && rng() % 20 == 0) {
      document = documents[rng() % i];
    } else {
      document.title = text(rng() % 6);
      document.body = text(rng() % 120);
    }
    if (rng() % 4 == 0) document.extra_text = text(rng() % 8);
    document.site = "s" + std::to_string(rng() % 5) + ".example.org";
    document.static_rank = RandomRank(rng);
    document.doc_id = (documents.size() << 8) + rng() % 256;
  }
  return documents;
}

std::string SharedDataFolder() {
  const char* folder = std::getenv("NEPTUNE_SHARED_DATA");
  return folder == nullptr ? "" : folder;
}

bool ReadZstdLines(const std::string& path, const std::function<bool(const std::string&)>& use) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return false;
  const std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
                                                                        ZSTD_freeDStream);
  std::string input(ZSTD_DStreamInSize(), '\0');
  std::string output(ZSTD_DStreamOutSize(), '\0');
  std::string line;
  while (in.read(input.data(), static_cast<std::streamsize>(input.size())) || in.gcount() > 0) {
    ZSTD_inBuffer from = {input.data(), static_cast<size_t>(in.gcount()), 0};
    while (from.pos < from.size) {
      ZSTD_outBuffer to = {output.data(), output.size(), 0};
      if (ZSTD_isError(ZSTD_decompressStream(stream.get(), &to, &from))) return false;
      for (size_t i = 0; i < to.pos; ++i) {
        if (output[i] != '\n') {
          line.push_back(output[i]);
          continue;
        }
        if (!use(line)) return true;
        line.clear();
      }
    }
  }
  return true;
}

std::vector<TestDocument> WikiMiniDocuments(size_t count_max) {
  const std::string path = SharedDataFolder() + "/collections/wiki_mini/docs.jsonl.zst";
  std::mt19937_64 rng(2);
  std::vector<TestDocument> documents;
  const auto use = [&](const std::string& line) {
    const auto json = nlohmann::json::parse(line);
    TestDocument& document = documents.emplace_back();
    document.doc_id = documents.size() * 3;
    document.title = json.at("title");
    document.body = json.at("text");
    document.site = rng() % 2 == 0 ? "en.wikipedia.org" : "m.wikipedia.org";
    document.static_rank = RandomRank(rng);
    return documents.size() < count_max;
  };
  if (SharedDataFolder().empty() || !ReadZstdLines(path, use)) {
    std::cerr << "SKIPPED: no " << path << "; set NEPTUNE_SHARED_DATA to the shared data folder\n";
  }
  return documents;
}

}  // namespace search::index

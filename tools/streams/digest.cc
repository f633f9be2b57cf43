#include "tools/streams/digest.h"

#include <errno.h>
#include <openssl/evp.h>
#include <string.h>
#include <xxhash.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace search::tools {
namespace {

using neptune::Status;
using neptune::StatusOr;

Status ForEachBlock(const std::string& path, const std::function<void(std::string_view)>& take) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(path.c_str(), "rbe"), &fclose);
  if (file == nullptr) return neptune::NotFound("opening ", path, ": ", strerror(errno));
  std::vector<char> block(size_t{256} << 10);
  while (const size_t got = fread(block.data(), 1, block.size(), file.get())) {
    take({block.data(), got});
  }
  if (ferror(file.get()) != 0) return neptune::Unavailable("reading ", path, " failed");
  return neptune::OkStatus();
}

}  // namespace

StatusOr<FileDigest> DigestFile(const std::string& path) {
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                              &XXH3_freeState);
  XXH3_64bits_reset(state.get());
  FileDigest digest;
  NEPTUNE_RETURN_IF_ERROR(ForEachBlock(path, [&](std::string_view block) {
    XXH3_64bits_update(state.get(), block.data(), block.size());
    digest.size += block.size();
  }));
  char text[17];
  snprintf(text, sizeof(text), "%016llx",
           static_cast<unsigned long long>(XXH3_64bits_digest(state.get())));
  digest.xxh3 = text;
  return digest;
}

StatusOr<std::string> Sha256OfFile(const std::string& path) {
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(),
                                                                   &EVP_MD_CTX_free);
  EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr);
  NEPTUNE_RETURN_IF_ERROR(ForEachBlock(path, [&](std::string_view block) {
    EVP_DigestUpdate(context.get(), block.data(), block.size());
  }));
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_DigestFinal_ex(context.get(), bytes, &size);
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    char digits[3];
    snprintf(digits, sizeof(digits), "%02x", bytes[i]);
    text += digits;
  }
  return text;
}

}  // namespace search::tools

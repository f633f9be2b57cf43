#include "tools/cluster/cluster_secrets.h"

#include <filesystem>

#include "neptune/base/file.h"
#include "neptune/base/secret_file.h"
#include "neptune/base/wipe.h"
#include "neptune/security/cluster_key.h"

namespace search::tools {
namespace {

using neptune::Status;

std::string HexOf(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size() + 1);
  for (const char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

// Creates the file unless it exists, in which case `check` validates it.
template <typename Check>
Status MakeSecret(const std::string& spec_path, const std::string& file, Check check) {
  if (file.empty()) return neptune::OkStatus();
  const std::string path = (std::filesystem::absolute(spec_path).parent_path() / file).string();
  NEPTUNE_RETURN_IF_ERROR(neptune::MakeSecretFile(path));
  return check(path);
}

}  // namespace

Status MakeClusterSecrets(const neptune::ClusterSpec& spec, const std::string& spec_path) {
  NEPTUNE_RETURN_IF_ERROR(
      MakeSecret(spec_path, spec.admin_token_file(),
                 [](const std::string& path) { return neptune::LoadSecret(path).status(); }));
  return MakeSecret(spec_path, spec.cluster_key_file(), [](const std::string& path) {
    return neptune::LoadClusterKeys(path).status();
  });
}

Status ChangeClusterKey(const std::string& path, bool finish) {
  NEPTUNE_ASSIGN_OR_RETURN(const neptune::ClusterKeys now, neptune::LoadClusterKeys(path));
  const bool under_way = now.keys().size() > 1;
  if (under_way != finish) {
    return neptune::FailedPrecondition(path, under_way
                                                 ? " holds two keys; finish that key change first"
                                                 : " holds one key; no key change is under way");
  }
  std::string contents = HexOf(now.keys()[0]) + '\n';
  const neptune::WipeAtEnd wipe(&contents);
  if (!finish) {
    NEPTUNE_ASSIGN_OR_RETURN(const std::string fresh, neptune::RandomSecretLine());
    contents.insert(0, fresh);
  }
  return neptune::WriteFileAtomically(path, contents, neptune::FileReaders::kOwner);
}

}  // namespace search::tools

// Certificates and keys of a cluster: makes its authority and its nodes' certificates, and changes
// its key.

#include <gflags/gflags.h>
#include <time.h>

#include <filesystem>
#include <iostream>

#include "neptune/base/file.h"
#include "neptune/base/secret_file.h"
#include "neptune/base/strings.h"
#include "neptune/node/cluster_spec.h"
#include "neptune/security/certificate_maker.h"
#include "tools/cluster/cluster_secrets.h"
#include "tools/terminal/caller_path.h"
#include "tools/terminal/command_line.h"

DEFINE_string(spec, "", "cluster spec; a certificate is made for each of its nodes");
DEFINE_string(out, "", "folder for authority.crt, authority.key, NODE.crt and NODE.key");
DEFINE_string(
    web, "",
    "make a certificate for a web server of this name instead, for instance search.example");
DEFINE_string(hosts, "", "further names and IP addresses in the certificates, separated by commas");
DEFINE_int32(
    days, 90,
    "days for which a node's certificate is valid; the authority's is valid for ten years");
DEFINE_string(begin_key_change, "", "add a new key to this cluster key file, before the old one");
DEFINE_string(finish_key_change, "", "remove the old key from this cluster key file");

namespace search::tools {
namespace {

using neptune::KeyAndCertificate;
using neptune::Status;
using neptune::StatusOr;

constexpr int64_t kNsPerDay = int64_t{86400} * 1000000000;
constexpr int kAuthorityDays = 3650;
constexpr size_t kPemSizeMax = 64 * 1024;

// Valid from a day ago, to tolerate hosts whose clocks differ.
neptune::Validity ForDays(int days) {
  const int64_t now = int64_t{time(nullptr)} * 1000000000;
  return {neptune::WallTime{now - kNsPerDay}, neptune::WallTime{now + days * kNsPerDay}};
}

Status WritePair(const std::filesystem::path& folder, const std::string& name,
                 const KeyAndCertificate& pair) {
  const std::filesystem::path key = folder / (name + ".key");
  NEPTUNE_RETURN_IF_ERROR(
      neptune::WriteFileAtomically(key.string(), pair.key, neptune::FileReaders::kOwner));
  const std::filesystem::path certificate = folder / (name + ".crt");
  NEPTUNE_RETURN_IF_ERROR(neptune::WriteFileAtomically(certificate.string(), pair.certificate));
  std::cout << certificate.string() << "\n";
  return neptune::OkStatus();
}

// Loads the authority from the folder, or creates it if there is none.
StatusOr<KeyAndCertificate> Authority(const std::filesystem::path& folder,
                                      const std::string& cluster) {
  const std::string key = (folder / "authority.key").string();
  if (std::filesystem::exists(key)) {
    KeyAndCertificate pair;
    NEPTUNE_ASSIGN_OR_RETURN(pair.key, neptune::ReadOwnersFile(key, kPemSizeMax));
    NEPTUNE_ASSIGN_OR_RETURN(pair.certificate,
                             neptune::ReadFile((folder / "authority.crt").string(), kPemSizeMax));
    return pair;
  }
  NEPTUNE_ASSIGN_OR_RETURN(
      const KeyAndCertificate made,
      neptune::MakeAuthority("authority of " + cluster, ForDays(kAuthorityDays)));
  NEPTUNE_RETURN_IF_ERROR(WritePair(folder, "authority", made));
  return made;
}

Status MakeAll() {
  if (FLAGS_out.empty())
    return neptune::InvalidArgument("--out is missing; it names the folder for the certificates");
  if (FLAGS_days < 1 || FLAGS_days > kAuthorityDays) {
    return neptune::InvalidArgument("--days is ", FLAGS_days, ", but must be 1 to ",
                                    kAuthorityDays);
  }
  std::vector<std::string> names;
  std::string cluster = FLAGS_web;
  if (!FLAGS_web.empty()) {
    names.push_back(FLAGS_web);
  } else {
    NEPTUNE_ASSIGN_OR_RETURN(const neptune::ClusterSpec spec,
                             neptune::LoadClusterSpec(CallerPath(FLAGS_spec)));
    cluster = spec.name();
    for (const auto& node : spec.nodes()) names.push_back(node.name());
  }
  const std::filesystem::path folder = CallerPath(FLAGS_out);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  NEPTUNE_ASSIGN_OR_RETURN(const KeyAndCertificate authority, Authority(folder, cluster));
  for (const std::string& name : names) {
    NEPTUNE_ASSIGN_OR_RETURN(
        const KeyAndCertificate made,
        neptune::MakeCertificate(authority, name, SplitList(FLAGS_hosts), ForDays(FLAGS_days)));
    NEPTUNE_RETURN_IF_ERROR(WritePair(folder, name, made));
  }
  return neptune::OkStatus();
}

Status Run() {
  if (!FLAGS_begin_key_change.empty()) {
    return ChangeClusterKey(CallerPath(FLAGS_begin_key_change), false);
  }
  if (!FLAGS_finish_key_change.empty()) {
    return ChangeClusterKey(CallerPath(FLAGS_finish_key_change), true);
  }
  return MakeAll();
}

}  // namespace
}  // namespace search::tools

int main(int argc, char** argv) {
  using namespace search::tools;
  ParseCommandLine(
      &argc, &argv,
      "Issues certificates of a cluster's own authority, and changes the cluster key.\n"
      "  certificates --spec=FILE --out=DIR            for each node of the spec\n"
      "  certificates --web=search.example --out=DIR   for a frontend\n"
      "  certificates --begin_key_change=FILE          then restart the nodes one by one,\n"
      "  certificates --finish_key_change=FILE         and again",
      __FILE__);
  return ExitStatus(Run(), "certificates");
}

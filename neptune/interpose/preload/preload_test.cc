// A program's view of the preload library itself.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <regex>
#include <sstream>

#include "neptune/interpose/preload/exit_status.h"
#include "neptune/interpose/preload/program_run.h"

namespace neptune::interpose {
namespace {

constexpr char kFolder[] = "neptune/interpose/preload/";

std::string Program() { return TreeFile("neptune/interpose/pthread/conformance_threads"); }

void ExpectRefused(const ProgramEnd& end, const std::string& reason) {
  EXPECT_EQ(end.exit_status, kPreloadFailed);
  EXPECT_EQ(end.output, "") << "its main has run";
  EXPECT_NE(end.errors.find(reason), std::string::npos) << end.errors;
  EXPECT_NE(end.errors.find("the program was not started"), std::string::npos) << end.errors;
}

TEST(PreloadTest, ProgramsOfOneThreadAreAsWithout) {
  const ProgramEnd end = RunProgram({"/bin/echo", "one", "two"}, PreloadEnvironment("", 2));
  EXPECT_EQ(end.exit_status, 0);
  EXPECT_EQ(end.output, "one two\n");
  EXPECT_EQ(end.errors, "");
}

TEST(PreloadTest, WithoutACapsuleFileTheProgramIsNotStarted) {
  auto environment = PreloadEnvironment("", 2);
  environment[1] = "NEPTUNE_CAPSULES=";
  ExpectRefused(RunProgram({Program()}, environment), "NEPTUNE_CAPSULES");
}

TEST(PreloadTest, WrongOptionsAreRefused) {
  auto environment = PreloadEnvironment("", 2);
  environment[2] = "NEPTUNE_KERNEL_THREADS=many";
  ExpectRefused(RunProgram({Program()}, environment), "NEPTUNE_KERNEL_THREADS: 'many'");
}

TEST(PreloadTest, AWrongCapsuleFileIsRefusedWithItsLine) {
  const char kWrong[] =
      "capsule fine {\n"
      "  match: inet:10.0.0.1:80\n"
      "}\n"
      "capsule wrong {\n"
      "  match: inet:10.0.0.1/33\n"
      "}\n";
  const auto environment = PreloadEnvironment(kWrong, 2);
  const std::string file = environment[1].substr(environment[1].find('=') + 1);
  ExpectRefused(RunProgram({Program()}, environment), file + ":5:");
}

TEST(PreloadTest, AMissingCapsuleFileIsRefused) {
  auto environment = PreloadEnvironment("", 2);
  environment[1] = "NEPTUNE_CAPSULES=/nowhere/at/all";
  ExpectRefused(RunProgram({Program()}, environment), "/nowhere/at/all");
}

TEST(PreloadTest, AnOddCapsuleFileIsWarnedOf) {
  const char kOdd[] =
      "capsule all { match: inet:10.0.0.0/8 }\n"
      "capsule one { match: inet:10.0.0.1 }\n";
  const ProgramEnd end = RunProgram({"/bin/echo"}, PreloadEnvironment(kOdd, 2));
  EXPECT_EQ(end.exit_status, 0);
  EXPECT_NE(end.errors.find("neptune: warning: "), std::string::npos) << end.errors;
  EXPECT_NE(end.errors.find(":2:"), std::string::npos) << end.errors;
}

TEST(PreloadTest, WithoutItsCoreTheProgramIsNotStarted) {
  const std::string alone = WriteTestFile("libneptune_preload.so", "");
  std::filesystem::copy_file(TreeFile(std::string(kFolder) + "libneptune_preload.so"), alone,
                             std::filesystem::copy_options::overwrite_existing);
  auto environment = PreloadEnvironment("", 2);
  environment[0] = "LD_PRELOAD=" + alone;
  ExpectRefused(RunProgram({Program()}, environment), "libneptune_preload_core.so");
}

// Every exported name is a name of libc or of the C++ ABI.
TEST(PreloadTest, ShowsTheProgramNothingButTheCallsItTakes) {
  const std::string library = TreeFile(std::string(kFolder) + "libneptune_preload.so");
  const ProgramEnd names = RunProgram({"/usr/bin/nm", "-D", "--defined-only", library});
  ASSERT_EQ(names.exit_status, 0) << names.errors;
  EXPECT_NE(names.output.find(" pthread_create\n"), std::string::npos);
  std::istringstream lines(names.output);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_FALSE(std::regex_search(line, std::regex("absl|boost|google|protobuf|neptune|_ZN")))
        << line;
  }
  const ProgramEnd dependencies = RunProgram({"/usr/bin/readelf", "-d", library});
  ASSERT_EQ(dependencies.exit_status, 0) << dependencies.errors;
  std::string needed;
  std::istringstream entries(dependencies.output);
  for (std::string line; std::getline(entries, line);) {
    if (line.find("(NEEDED)") != std::string::npos) needed += line.substr(line.find('['));
  }
  EXPECT_EQ(needed, "[libc.so.6]");
}

// A program cannot find symbols of the core by name at run time either.
TEST(PreloadTest, SymbolsOfTheCoreAreNotVisible) {
  const std::string program =
      "import ctypes; print(hasattr(ctypes.CDLL(None), 'neptune_preload_start'), "
      "hasattr(ctypes.CDLL(None), 'pthread_create'))";
  const ProgramEnd end = RunProgram({"/usr/bin/python3", "-c", program}, PreloadEnvironment("", 2));
  EXPECT_EQ(end.output, "False True\n") << end.errors;
}

// A thread waits for data that another one of the same kernel thread sends.
TEST(PreloadTest, InheritedSocketsPark) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const std::string program =
      "import socket, sys, threading\n"
      "ends = [socket.socket(fileno=int(number)) for number in sys.argv[1:]]\n"
      "got = []\n"
      "reader = threading.Thread(target=lambda: got.append(ends[0].recv(1)))\n"
      "writer = threading.Thread(target=lambda: ends[1].send(b'x'))\n"
      "reader.start()\n"
      "writer.start()\n"
      "reader.join()\n"
      "print(got)\n";
  const ProgramEnd end = RunProgram(
      {"/usr/bin/python3", "-c", program, std::to_string(ends[0]), std::to_string(ends[1])},
      PreloadEnvironment("", 1));
  close(ends[0]);
  close(ends[1]);
  EXPECT_EQ(end.output, "[b'x']\n") << end.errors;
}

}  // namespace
}  // namespace neptune::interpose

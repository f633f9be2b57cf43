#include "neptune/node/module_loader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"

namespace neptune {
namespace {

class ModuleLoaderTest : public testing::Test {
 protected:
  ModuleLoaderTest()
      : folder_(std::filesystem::path(testing::TempDir()) /
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::create_directories(folder_);
  }
  // Puts a file there that is not a library.
  void Put(const std::string& name, mode_t mode) const {
    const std::string path = StrCat(folder_, "/", name);
    ASSERT_TRUE(WriteFileAtomically(path, "no library").ok());
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
  }
  static std::string Refusal(const std::string& name, const std::string& folder) {
    return LoadModule(name, {folder}, folder).status().ToString();
  }

  const std::string folder_;
};

TEST_F(ModuleLoaderTest, ALibraryThatEveryoneMayChangeIsRefused) {
  Put("open.so", 0757);
  Put("closed.so", 0755);
  EXPECT_NE(Refusal("open", folder_).find("everyone may write"), std::string::npos);
  EXPECT_EQ(Refusal("closed", folder_).find("everyone may write"), std::string::npos);
}

TEST_F(ModuleLoaderTest, ARelativePathStartsAtTheSpecsFolder) {
  Put("open.so", 0757);
  const std::string refusal = Refusal("./open.so", folder_);
  EXPECT_NE(refusal.find(StrCat(folder_, "/open.so")), std::string::npos) << refusal;
  EXPECT_NE(Refusal(StrCat(folder_, "/open.so"), "/elsewhere").find("everyone may write"),
            std::string::npos);
}

}  // namespace
}  // namespace neptune

#include "neptune/examples/face/face_image.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "neptune/world/random_source.h"

namespace neptune::examples {
namespace {

constexpr size_t kFileSizeMax = kFacePixelCountMax + 1024;
constexpr uint32_t kMadeWidth = 46;
constexpr uint32_t kMadeHeight = 56;
constexpr int kFeatureCount = 12;

// Reads the tokens of a PGM header.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view bytes) : bytes_(bytes) {}

  std::string_view Word() {
    SkipSpace();
    const size_t begin = at_;
    while (at_ < bytes_.size() && !IsSpace(bytes_[at_])) ++at_;
    return bytes_.substr(begin, at_ - begin);
  }
  // Returns 0 if the token is not a number below 10 million.
  uint32_t Number() {
    const std::string_view word = Word();
    uint32_t value = 0;
    for (const char c : word) {
      if (c < '0' || c > '9' || word.size() > 7) return 0;
      value = 10 * value + static_cast<uint32_t>(c - '0');
    }
    return value;
  }
  // Returns the bytes after the single whitespace that ends the header.
  std::string_view Rest() const { return bytes_.substr(std::min(at_ + 1, bytes_.size())); }

 private:
  static bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
  void SkipSpace() {
    while (at_ < bytes_.size() && (IsSpace(bytes_[at_]) || bytes_[at_] == '#')) {
      if (bytes_[at_] == '#') at_ = std::min(bytes_.find('\n', at_), bytes_.size() - 1);
      ++at_;
    }
  }

  const std::string_view bytes_;
  size_t at_ = 0;
};

// A bright or dark spot.
struct Feature {
  double x, y, radius, strength;
};

std::vector<Feature> MakeFeatures(RandomSource& random) {
  std::vector<Feature> features(kFeatureCount);
  for (Feature& feature : features) {
    feature = {random.Uniform() * kMadeWidth, random.Uniform() * kMadeHeight,
               3 + 6 * random.Uniform(), 160 * (random.Uniform() - 0.5)};
  }
  return features;
}

GreyImage Draw(const std::vector<Feature>& features, RandomSource& random) {
  const double light = 0.8 + 0.4 * random.Uniform();
  const double right = 2 * random.Uniform() - 1;
  const double down = 2 * random.Uniform() - 1;
  GreyImage image{kMadeWidth, kMadeHeight, ""};
  for (uint32_t y = 0; y < kMadeHeight; ++y) {
    for (uint32_t x = 0; x < kMadeWidth; ++x) {
      double value = 128;
      for (const Feature& feature : features) {
        const double dx = x - right - feature.x;
        const double dy = y - down - feature.y;
        value += feature.strength *
                 std::exp(-(dx * dx + dy * dy) / (2 * feature.radius * feature.radius));
      }
      value = light * value + 20 * (random.Uniform() - 0.5);
      image.pixels += static_cast<char>(std::clamp(std::lround(value), 0L, 255L));
    }
  }
  return image;
}

std::vector<std::filesystem::path> Sorted(const std::filesystem::path& folder,
                                          std::error_code* error) {
  std::vector<std::filesystem::path> paths;
  for (std::filesystem::directory_iterator it(folder, *error), end; !*error && it != end;
       it.increment(*error)) {
    paths.push_back(it->path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

Status ReadPerson(const std::filesystem::path& folder, std::vector<FacePicture>* faces) {
  std::error_code error;
  std::map<uint32_t, std::string> files;  // keyed by number
  for (const auto& path : Sorted(folder, &error)) {
    const uint32_t number = HeaderReader(path.stem().string()).Number();
    if (path.extension() == ".pgm" && number > 0) files[number] = path.string();
  }
  for (const auto& [number, path] : files) {
    NEPTUNE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kFileSizeMax));
    StatusOr<GreyImage> image = ParsePgm(bytes);
    if (!image.ok()) return Annotate(image.status(), path);
    faces->push_back({folder.filename().string(), number, *std::move(image)});
  }
  return OkStatus();
}

}  // namespace

StatusOr<GreyImage> ParsePgm(std::string_view bytes) {
  HeaderReader header(bytes);
  if (header.Word() != "P5") return InvalidArgument("not a binary PGM: it does not begin with P5");
  GreyImage image;
  image.width = header.Number();
  image.height = header.Number();
  const uint32_t brightest = header.Number();
  const size_t pixel_count = size_t{image.width} * image.height;
  if (pixel_count == 0 || pixel_count > kFacePixelCountMax || brightest != 255) {
    return InvalidArgument("PGM has ", image.width, " x ", image.height, " pixels and maximum ",
                           brightest, ", expected 1 to ", kFacePixelCountMax, " pixels and 255");
  }
  if (header.Rest().size() < pixel_count) {
    return InvalidArgument("PGM of ", image.width, " x ", image.height, " with ",
                           header.Rest().size(), " pixels");
  }
  image.pixels = std::string(header.Rest().substr(0, pixel_count));
  return image;
}

std::string ToPgm(const GreyImage& image) {
  return StrCat("P5\n", image.width, " ", image.height, "\n255\n", image.pixels);
}

StatusOr<std::vector<FacePicture>> ReadFaces(const std::string& folder) {
  std::vector<FacePicture> faces;
  std::error_code error;
  for (const auto& path : Sorted(folder, &error)) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored)) continue;
    NEPTUNE_RETURN_IF_ERROR(ReadPerson(path, &faces));
  }
  if (error) return NotFound("reading ", folder, ": ", error.message());
  if (faces.empty()) return NotFound("no PERSON/NUMBER.pgm in ", folder);
  return faces;
}

Status WriteFaces(const std::vector<FacePicture>& faces, const std::string& folder) {
  for (const FacePicture& face : faces) {
    std::error_code error;
    std::filesystem::create_directories(StrCat(folder, "/", face.person), error);
    if (error) return FailedPrecondition("creating a directory in ", folder, ": ", error.message());
    NEPTUNE_RETURN_IF_ERROR(
        WriteFileAtomically(StrCat(folder, "/", face.name(), ".pgm"), ToPgm(face.image)));
  }
  return OkStatus();
}

std::vector<FacePicture> MakeFaces(uint64_t seed, uint32_t person_count, uint32_t picture_count) {
  RandomSource random(seed);
  std::vector<FacePicture> faces;
  for (uint32_t person = 1; person <= person_count; ++person) {
    const std::vector<Feature> features = MakeFeatures(random);
    for (uint32_t number = 1; number <= picture_count; ++number) {
      faces.push_back({StrCat("person", person), number, Draw(features, random)});
    }
  }
  return faces;
}

}  // namespace neptune::examples

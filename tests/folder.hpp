// A private folder of a test, which is removed in the destructor.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace baton {

class folder {
public:
    folder() {
        std::string name = std::filesystem::temp_directory_path() / "baton-test.XXXXXX";
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error{"no folder to work in"};
        path_ = std::filesystem::canonical(name);  // addresses are shown with their links resolved
    }
    folder(const folder&) = delete;
    folder& operator=(const folder&) = delete;
    ~folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] std::string path(const std::string& name) const { return path_ / name; }

private:
    std::filesystem::path path_;
};

}  // namespace baton

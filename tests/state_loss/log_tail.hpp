// Counts the grants in a growing history; each call reads only the new lines.
#pragma once

#include <cstddef>
#include <fstream>
#include <string>
#include <utility>

namespace baton::state_loss {

class log_tail {
public:
    explicit log_tail(std::string path) : path_{std::move(path)} {}

    /// The number of grants up to now.
    [[nodiscard]] std::size_t grants() {
        std::ifstream file{path_, std::ios::binary};
        file.seekg(static_cast<std::streamoff>(read_));
        for (std::string line; std::getline(file, line) && !file.eof(); read_ += line.size() + 1)
            if (line.find(" held ") != std::string::npos) ++grants_;
        return grants_;
    }

private:
    std::string path_;
    std::size_t read_ = 0;
    std::size_t grants_ = 0;
};

}  // namespace baton::state_loss

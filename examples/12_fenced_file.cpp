// A file that refuses late writers: the newest fence is kept in a file beside it, and flock(2) makes check and write
// one step.
#include <baton/baton.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <system_error>

namespace {

/// Holds flock(2) on a file, which it creates if it does not exist.
class flock_guard {
public:
    explicit flock_guard(const std::string& path) : file_{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)} {
        if (file_ < 0 || ::flock(file_, LOCK_EX) != 0) throw std::system_error{errno, std::generic_category(), path};
    }
    flock_guard(const flock_guard&) = delete;
    flock_guard& operator=(const flock_guard&) = delete;
    ~flock_guard() { ::close(file_); }

private:
    int file_;
};

void replace(const std::string& path, const std::string& text) {
    if (!(std::ofstream{path + ".new"} << text << std::flush)) throw std::runtime_error{"cannot write " + path};
    std::filesystem::rename(path + ".new", path);
}

/// Replaces the file and returns true; false if a holder with a larger fence has written it.
bool write_fenced(const std::string& path, const std::string& text, std::uint64_t fence) {
    const flock_guard guard{path + ".lock"};  // check and write are one step
    std::uint64_t newest = 0;
    std::ifstream{path + ".fence"} >> newest;  // stays 0 if the file does not exist
    if (fence < newest) return false;
    replace(path + ".fence", std::to_string(fence));
    replace(path, text);
    return true;
}

}  // namespace

int main() {
    std::string folder = (std::filesystem::temp_directory_path() / "fenced-XXXXXX").string();
    if (!::mkdtemp(folder.data())) return 1;
    const std::string report = folder + "/report";

    baton::client client{"memory:"};
    baton::lease slow = client.acquire(baton::exclusive("report"));
    const std::uint64_t old_fence = slow.fence();
    slow.release();  // as if the process had been stopped until its lease expired

    const baton::lease next = client.acquire(baton::exclusive("report"));
    std::cout << (write_fenced(report, "new", next.fence()) ? "the holder: written\n" : "the holder: refused\n");
    std::cout << (write_fenced(report, "old", old_fence) ? "the late writer: written\n" : "the late writer: refused\n");

    std::string text;
    std::ifstream{report} >> text;
    std::cout << "the file: " << text << '\n';
    std::filesystem::remove_all(folder);
}

// Output:
// the holder: written
// the late writer: refused
// the file: new
